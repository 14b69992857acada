//! A test's own files, kept beside what is known of its paths.
//!
//! The next command removes the directory of a recorded run, and a suite that changed those of its tests.
//! Inputs that were invented for a test take from it whatever they do not change (standard input, the
//! contents of its world), and are run again by later commands: so those files live as long as they do.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_sandbox::{Nature, Thing};
use siphasher::sip::SipHasher13;

use crate::capsule::Capsule;

/// Where a test's own files are kept, beside the directories of its paths.
pub const OWN: &str = "own";

/// The same capsule with all files that lie in the campaign as files of `directory`.
pub fn settle(capsule: &Capsule, directory: &Path, campaign: &Path) -> io::Result<Capsule> {
    fs::create_dir_all(directory)?;
    let mut settled = capsule.clone();
    let is_ours = |file: &Path| file.starts_with(campaign) && file.parent() != Some(directory);
    for (number, file) in settled.own_files().into_iter().enumerate() {
        if is_ours(file) {
            *file = link(file, directory.join(own_name(file, number)))?;
        }
    }
    for thing in &mut settled.world {
        let name = world_name(thing);
        if let Nature::File {
            content: Some(content),
            ..
        } = &mut thing.nature
            && is_ours(content)
        {
            *content = link(content, directory.join(name))?;
        }
    }
    if settled.environment.file().is_some() {
        settled.environment.keep_in(directory)?;
    }
    Ok(settled)
}

/// What a file of a capsule is called where the capsule's files lie together.
pub fn own_name(file: &Path, number: usize) -> String {
    match file.file_name().and_then(|name| name.to_str()) {
        Some(name @ ("stdin" | "named")) => name.to_string(),
        _ => format!("file-{number}"),
    }
}

/// A name that says which file of the world it is, in which state: what was kept for an earlier run of
/// the test stays what it is.
fn world_name(thing: &Thing) -> String {
    let mut hasher = SipHasher13::new();
    thing.path.hash(&mut hasher);
    thing.modified.hash(&mut hasher);
    if let Nature::File { size, .. } = &thing.nature {
        size.hash(&mut hasher);
    }
    format!("world-{:016x}", hasher.finish())
}

/// Another name for a file that is never written again, or a copy of it where links cannot be made. It
/// appears as a whole.
pub fn link(file: &Path, name: PathBuf) -> io::Result<PathBuf> {
    let unfinished = name.with_added_extension("new");
    if unfinished.exists() {
        fs::remove_file(&unfinished)?;
    }
    if fs::hard_link(file, &unfinished).is_err() {
        fs::copy(file, &unfinished)?;
    }
    fs::rename(&unfinished, &name)?;
    // Renaming one of two names of a file to the other does nothing at all.
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use nearmiss_abi::channel::ChannelSet;
    use nearmiss_sandbox::Stdin;

    #[test]
    fn a_capsule_outlives_the_run_that_it_was_recorded_in() {
        let campaign = tempfile::tempdir().unwrap();
        let run = campaign.path().join("runs/1");
        fs::create_dir_all(run.join("files")).unwrap();
        fs::write(run.join("stdin"), "fed").unwrap();
        fs::write(run.join("files/config"), "found").unwrap();
        let thing = |content: PathBuf| Thing {
            path: "/etc/app.conf".into(),
            nature: Nature::File {
                content: Some(content),
                size: 5,
            },
            mode: 0o644,
            modified: (1, 2),
        };
        let capsule = Capsule {
            program: "/bin/prog".into(),
            stands_for: None,
            stand_ins: Vec::new(),
            arguments: Vec::new(),
            environment: Environment::default(),
            variables: String::new(),
            directory: "/".into(),
            stdin: Stdin::File(run.join("stdin")),
            terminal: false,
            umask: None,
            chance: Default::default(),
            world: vec![
                thing(run.join("files/config")),
                thing("/elsewhere/file".into()),
            ],
            files: Vec::new(),
            named: None,
            channels: ChannelSet::NONE,
            options: Default::default(),
        };
        let own = campaign.path().join("run/paths/1/own");
        let settled = settle(&capsule, &own, campaign.path()).unwrap();
        let again = settle(&settled, &own, campaign.path()).unwrap();
        let once_more = settle(&capsule, &own, campaign.path()).unwrap();
        fs::remove_dir_all(&run).unwrap();
        for capsule in [settled, again, once_more] {
            assert_eq!(capsule.stdin_content().unwrap().unwrap(), b"fed");
            let contents: Vec<&PathBuf> = capsule
                .world
                .iter()
                .filter_map(|thing| match &thing.nature {
                    Nature::File { content, .. } => content.as_ref(),
                    _ => None,
                })
                .collect();
            assert_eq!(fs::read(contents[0]).unwrap(), b"found");
            assert_eq!(contents[1], Path::new("/elsewhere/file"));
        }
        let left = fs::read_dir(&own).unwrap().count();
        assert_eq!(left, 2, "nothing unfinished is left behind");
    }
}
