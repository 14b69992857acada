//! The compiler driver: a pure plan of the command line, then running it.
