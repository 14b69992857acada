//! A C file with a test for each path: it includes the source file, builds each input with
//! initialisers that can be read, calls the function and compares what it left.
//!
//! | module | what it writes |
//! | --- | --- |
//! | [`literal`] | numbers, strings |
//! | [`scene`] | the names of a test: blocks, locals, stubs; what leads to them |
//! | [`inputs`], [`heap`] | declarations and assignments before the call |
//! | [`stubs`], [`tables`] | functions that give back and write what was recorded |
//! | [`undefined`] | what no given file defines |
//! | [`check`](self::check), [`checks`] | comparisons after the call |
//! | [`test`] | one test function |
//! | [`framework`], [`words`] | what differs between test frameworks |
//! | [`runner`] | `main`, or what stands for it |
//! | [`file`](self::file) | the whole file |

mod check;
mod checks;
mod file;
mod framework;
mod heap;
mod inputs;
mod literal;
mod place;
mod runner;
mod scene;
mod stubs;
mod tables;
mod test;
mod undefined;
mod words;
mod wrap;

pub use file::sources;
pub use framework::Framework;
