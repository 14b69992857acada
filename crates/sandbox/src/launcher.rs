//! The launcher: this executable started anew, with one thread and nothing to lose. It makes once
//! what all runs share, then runs one program after the other, each in a sandbox of its own.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::ground::Ground;
use crate::init::{self, Init};
use crate::refusal::{Needs, Refusal};
use crate::server::{DONE, INIT_WAS_KILLED};
use crate::spec::{Report, Spec};
use crate::stage::Stage;
use crate::{mounts, sys};

/// Runs the programs that the line `fd` tells of, each in a sandbox, until it is closed. Never
/// returns.
///
/// Only for the command given to [`crate::Sandbox::confined`]: the process must have one
/// thread.
pub fn enter(fd: RawFd) -> ! {
    // SAFETY: our parent made this descriptor for us, and nobody else knows of it.
    let line = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut launcher = Launcher {
        ground: Ground::prepare(&line),
        stage: None,
        line,
    };
    while let Ok(Some(request)) = sys::receive_descriptors(&launcher.line) {
        let answer = launcher.serve(request);
        if sys::send_byte(&launcher.line, answer).is_err() {
            break;
        }
    }
    sys::end(0);
}

/// Writes a report behind the specification.
pub(crate) fn say(shared: &mut File, report: &Report) {
    let text = serde_json::to_string(report).expect("plain data serialises");
    // Nobody could be told of a failure here: nearmiss sees that nothing was said.
    let _ = shared
        .seek(SeekFrom::End(0))
        .and_then(|_| shared.write_all(format!("\n{text}").as_bytes()));
}

struct Launcher {
    /// What all runs share, or why there can be no sandbox.
    ground: Result<Ground, Refusal>,
    /// The world of the last run: the next one mostly has the same.
    stage: Option<Stage>,
    line: OwnedFd,
}

/// How a run goes out: the shared memory file, standard output, standard error.
type Request = [OwnedFd; sys::PASSED];

impl Launcher {
    fn serve(&mut self, [shared, stdout, stderr]: Request) -> u8 {
        let mut shared = File::from(shared);
        self.run(&mut shared, stdout, stderr)
            .unwrap_or_else(|refusal| {
                say(&mut shared, &refusal.0);
                DONE
            })
    }

    fn run(&mut self, shared: &mut File, stdout: OwnedFd, stderr: OwnedFd) -> Result<u8, Refusal> {
        let ground = self.ground.as_mut().map_err(|refusal| refusal.clone())?;
        let spec = read_spec(shared)?;
        if !self.stage.as_ref().is_some_and(|stage| stage.serves(&spec)) {
            self.stage = None;
            self.stage = Some(Stage::build(&spec, ground.users)?);
        }
        ground.sockets.look();
        let stage = self.stage.as_ref().expect("it was just made");
        let pid = sys::fork_into(ground.namespaces_of_a_run).needs("pid and ipc namespaces")?;
        if pid == 0 {
            let streams = [stdout, stderr];
            if let Err(refusal) = become_init(ground, stage, &spec, shared, streams, &self.line) {
                say(shared, &refusal.0);
            }
            sys::end(0);
        }
        drop((stdout, stderr));
        Ok(self.wait(pid)?)
    }

    /// Waits for init. If the line is closed before, nobody wants to know any more.
    fn wait(&self, init: libc::pid_t) -> io::Result<u8> {
        let process = sys::open_process(init as u32)?;
        loop {
            let watched = [process.as_raw_fd(), self.line.as_raw_fd()];
            match sys::wait_readable(watched, Duration::MAX)? {
                [true, _] => break,
                [false, true] => {
                    sys::kill(init);
                    sys::end(0);
                }
                _ => {}
            }
        }
        let ended = sys::wait(init, 0)?;
        let was_killed = ended.is_some_and(|(_, status)| libc::WIFSIGNALED(status));
        Ok(if was_killed { INIT_WAS_KILLED } else { DONE })
    }
}

fn read_spec(shared: &mut File) -> io::Result<Spec> {
    shared.rewind()?;
    let mut text = Vec::new();
    shared.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Process 1 of a new sandbox: makes its file system, then runs the program.
fn become_init(
    ground: &Ground,
    stage: &Stage,
    spec: &Spec,
    shared: &mut File,
    [stdout, stderr]: [OwnedFd; 2],
    line: &OwnedFd,
) -> Result<(), Refusal> {
    sys::die_with_parent()?;
    // If the launcher ends, nearmiss must see that.
    sys::close(line.as_raw_fd());
    sys::new_session()?;
    sys::become_standard(stdout.as_raw_fd(), 1)?;
    sys::become_standard(stderr.as_raw_fd(), 2)?;
    drop((stdout, stderr));
    if ground.has_network_per_run() {
        // Programs that talk to themselves may go on doing so.
        let _ = sys::raise_loopback();
    }
    // Opened before anything is hidden beneath a mount.
    let stdin = init::open_stdin(spec)?;
    let writable = mounts::prepare(spec, stage, ground)?;
    if !stage.missing.is_empty() {
        say(shared, &Report::MissingThings(stage.missing.clone()));
    }
    let mut init = Init {
        spec,
        writable,
        ground,
        shared,
    };
    init.run(stdin);
    Ok(())
}
