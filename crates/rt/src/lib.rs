//! Linked into the tested program: shadow memory, inputs, libc wrappers, the trace writer.
