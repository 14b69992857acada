//! A world made once for the many runs that have it: a layer of each overlay, beneath the one that
//! a run writes into.
//!
//! It is what differed from the disk when it was made: who changes the disk while a campaign runs
//! changes the world of the runs to come.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use crate::ground::{Users, WORKSHOP};
use crate::overlay::{self, Overlay};
use crate::refusal::{Needs, Refusal};
use crate::spec::{Spec, Thing};
use crate::world::World;
use crate::{stand_ins, sys};

/// A world, and where it is.
pub(crate) struct Stage {
    /// What it is the world of.
    world: Vec<Thing>,
    /// Paths of the stand-ins of its runs, for which it has a file.
    stand_ins: Vec<PathBuf>,
    /// Those of them at which there was none on the disk.
    gaps: Vec<PathBuf>,
    directory: PathBuf,
    home: Option<OsString>,
    /// The directories that get an overlay, outer ones first.
    pub places: Vec<PathBuf>,
    /// What could not be made.
    pub missing: Vec<PathBuf>,
}

impl Stage {
    /// Makes the world of a program.
    pub fn build(spec: &Spec, users: Users) -> Result<Stage, Refusal> {
        let mut stage = Stage {
            world: spec.world.clone(),
            stand_ins: spec.stand_ins.iter().map(|it| it.path.clone()).collect(),
            gaps: stand_ins::gaps(spec),
            directory: spec.directory.clone(),
            home: overlay::home(spec).cloned(),
            places: overlay::places(spec, users),
            missing: Vec::new(),
        };
        if stage.has_layers() {
            stage.missing = stage.make_world(spec, users)?;
        }
        Ok(stage)
    }

    /// Whether it is the world of this program, too.
    pub fn serves(&self, spec: &Spec) -> bool {
        self.directory == spec.directory
            && self.home.as_ref() == overlay::home(spec)
            && self.world == spec.world
            && (self.stand_ins.iter()).eq(spec.stand_ins.iter().map(|it| &it.path))
            && self.gaps == stand_ins::gaps(spec)
    }

    fn has_layers(&self) -> bool {
        !self.world.is_empty() || !self.gaps.is_empty()
    }

    /// The layer of the overlay with this number.
    pub fn layer(&self, number: usize) -> Option<PathBuf> {
        let layer = Path::new(WORKSHOP).join(format!("stage/{number}/upper"));
        (self.has_layers() && layer.exists()).then_some(layer)
    }

    /// Makes the layers, in a process with mounts of its own that leaves nothing else.
    fn make_world(&self, spec: &Spec, users: Users) -> Result<Vec<PathBuf>, Refusal> {
        let mut shared = sys::memory_file("nearmiss-world")?;
        let pid = sys::fork_into(libc::CLONE_NEWNS).needs("mount namespaces")?;
        if pid == 0 {
            let made = sys::die_with_parent()
                .and_then(|()| self.make_layers(spec, users))
                .and_then(|missing| Ok(serde_json::to_writer(&mut shared, &missing)?));
            sys::end(made.is_err().into());
        }
        sys::wait(pid, 0)?;
        shared.rewind()?;
        let mut text = String::new();
        shared.read_to_string(&mut text)?;
        let failed = |_| io::Error::other("the program's world could not be made");
        Ok(serde_json::from_str(&text).map_err(failed)?)
    }

    fn make_layers(&self, spec: &Spec, users: Users) -> io::Result<Vec<PathBuf>> {
        sys::make_read_only(Path::new("/"))?;
        sys::make_writable(Path::new(WORKSHOP))?;
        let world = World::open(spec);
        let lowers = overlay::lowers(&self.places)?;
        for (number, lower) in lowers.iter().enumerate() {
            let overlay = Overlay {
                lower,
                layer: None,
                workshop: Path::new(WORKSHOP).join(format!("stage/{number}")),
            };
            // What cannot be made without it is told.
            let _ = overlay.mount(users);
        }
        Ok(world.make())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let directory = Path::new(WORKSHOP).join("stage");
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
