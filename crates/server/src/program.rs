//! The program, in the sandbox, on a thread of its own: the sandbox comes back when it has ended.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nearmiss_sandbox::{Outcome, Sandbox, SandboxError, Spec};

/// A program that runs, or has ended.
#[derive(Debug)]
pub struct Program {
    outcome: Receiver<Result<Outcome, SandboxError>>,
    thread: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts it.
    pub fn start(sandbox: &Sandbox, spec: Spec) -> Program {
        let (send, outcome) = mpsc::sync_channel(1);
        let sandbox = sandbox.clone();
        let thread = thread::spawn(move || {
            // Who does not want to know has gone.
            let _ = send.send(sandbox.run(&spec));
        });
        Program {
            outcome,
            thread: Some(thread),
        }
    }

    /// Whether it has not ended.
    pub fn is_running(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_some_and(|thread| !thread.is_finished())
    }

    /// Waits for its end, which must be near: what became of it, when that is asked for the first
    /// time.
    pub fn end(&mut self, patience: Duration) -> Option<Result<Outcome, SandboxError>> {
        let outcome = match self.outcome.recv_timeout(patience) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => return None,
        };
        if let Some(thread) = self.thread.take() {
            // It has nothing left to do.
            let _ = thread.join();
        }
        outcome
    }
}
