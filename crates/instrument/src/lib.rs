//! LLVM IR in, instrumented IR and site map out; the only crate that knows LLVM.
