//! What runs the program once on an input.

/// Runs the program on an input and gives what the run recorded. How it is run is no concern of the
/// search: by a fork server, from a capsule in the sandbox, or out of a table in a test.
pub trait Executor {
    /// What one run is given.
    type Input: ?Sized;
    /// What one run recorded.
    type Run;
    /// Why no run could be made.
    type Error;

    /// Runs the program once.
    fn run(&mut self, input: &Self::Input) -> Result<Self::Run, Self::Error>;
}
