//! The launcher: this executable started anew, with one thread and nothing to lose. It makes once
//! what all runs share, then runs one program after the other, each in a sandbox of its own.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::forks::Forks;
use crate::ground::Ground;
use crate::init::{self, Init, OpenStdin};
use crate::refusal::{Needs, Refusal};
use crate::server::{DONE, FORKED, INIT_WAS_KILLED};
use crate::spec::{Report, Spec};
use crate::stage::Stage;
use crate::{mounts, stand_ins, sys};

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
    while let Ok(Some((kind, descriptors))) = sys::receive_message(&launcher.line) {
        let Ok(request) = descriptors.try_into() else {
            break;
        };
        let answer = launcher.serve(request, kind == FORKED);
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
type Request = [OwnedFd; 3];

impl Launcher {
    fn serve(&mut self, [shared, stdout, stderr]: Request, is_forked: bool) -> u8 {
        let mut shared = File::from(shared);
        self.run(&mut shared, [stdout, stderr], is_forked)
            .unwrap_or_else(|refusal| {
                say(&mut shared, &refusal.0);
                DONE
            })
    }

    /// Runs a program once, or one that is forked until it is not needed any more.
    fn run(
        &mut self,
        shared: &mut File,
        streams: [OwnedFd; 2],
        is_forked: bool,
    ) -> Result<u8, Refusal> {
        let ground = self.ground.as_mut().map_err(|refusal| refusal.clone())?;
        let mut spec = read_spec(shared)?;
        if !self.stage.as_ref().is_some_and(|stage| stage.serves(&spec)) {
            self.stage = None;
            self.stage = Some(Stage::build(&spec, ground.users)?);
        }
        ground.sockets.look();
        let stage = self.stage.as_ref().expect("it was just made");
        stand_ins::give_up(&mut spec, &stage.missing);
        let pid = sys::fork_into(ground.namespaces_of_a_run).needs("pid and ipc namespaces")?;
        if pid == 0 {
            let line = (!is_forked).then_some(&self.line);
            let result = become_init(ground, stage, &spec, shared, streams, line);
            let result = result.and_then(|(mut init, stdin, layers)| match is_forked {
                true => Ok(Forks::start(&mut init, layers)?.serve(&self.line)?),
                false => {
                    init.run(stdin);
                    Ok(())
                }
            });
            if let Err(refusal) = result {
                say(shared, &refusal.0);
            }
            sys::end(0);
        }
        drop(streams);
        Ok(if is_forked {
            self.wait_forked(pid)?
        } else {
            self.wait(pid)?
        })
    }

    /// Waits for an init that hears requests itself.
    fn wait_forked(&self, init: libc::pid_t) -> io::Result<u8> {
        let process = sys::open_process(init as u32)?;
        if !sys::wait_for_process(&process, &self.line)? {
            sys::kill(init);
            sys::end(0);
        }
        answer(init)
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
        answer(init)
    }
}

/// What is said of an init that has ended.
fn answer(init: libc::pid_t) -> io::Result<u8> {
    let ended = sys::wait(init, 0)?;
    let was_killed = ended.is_some_and(|(_, status)| libc::WIFSIGNALED(status));
    Ok(if was_killed { INIT_WAS_KILLED } else { DONE })
}

fn read_spec(shared: &mut File) -> io::Result<Spec> {
    shared.rewind()?;
    let mut text = Vec::new();
    shared.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Process 1 of a new sandbox: makes the program's file system. A `line` that it does not need is
/// closed: if the launcher ends, nearmiss must see that.
fn become_init<'a>(
    ground: &'a Ground,
    stage: &Stage,
    spec: &'a Spec,
    shared: &'a mut File,
    [stdout, stderr]: [OwnedFd; 2],
    line: Option<&OwnedFd>,
) -> Result<(Init<'a>, OpenStdin, Vec<File>), Refusal> {
    sys::die_with_parent()?;
    if let Some(line) = line {
        sys::close(line.as_raw_fd());
    }
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
    let view = mounts::prepare(spec, stage, ground)?;
    if !stage.missing.is_empty() {
        say(shared, &Report::MissingThings(stage.missing.clone()));
    }
    let init = Init {
        spec,
        writable: view.writable,
        ground,
        shared,
    };
    Ok((init, stdin, view.layers))
}
