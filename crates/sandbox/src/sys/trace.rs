//! System calls by which a process is stopped and looked at: `ptrace` and what lies around it.

use std::io;
use std::mem::{self, MaybeUninit};
use std::time::{Duration, Instant};

use super::{check, wait, wait_for_child};

/// How a traced process came to a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was asked to.
    Asked,
    /// It is about to make a system call, or has made it.
    SystemCall,
    /// One instruction was executed.
    Step,
    /// A signal came for it.
    Signal(i32),
    /// It ended, with this status of `wait`.
    Ended(i32),
}

/// Registers of a process.
#[derive(Clone, Copy, Debug)]
pub struct Registers(libc::user_regs_struct);

/// Flags of the processor that say how it is traced.
const TRACING_FLAGS: u64 = 0x1_0100;

impl Registers {
    /// The next instruction.
    pub fn instruction(&self) -> u64 {
        self.0.rip
    }

    /// The top of the stack.
    pub fn stack(&self) -> u64 {
        self.0.rsp
    }

    /// The system call that is under way, and its first argument.
    pub fn system_call(&self) -> (i64, u64) {
        (self.0.orig_rax as i64, self.0.rdi)
    }

    /// What a system call gave.
    pub fn result(&self) -> i64 {
        self.0.rax as i64
    }

    /// Whether a system call was interrupted, and will be made once more.
    pub fn is_in_system_call(&self) -> bool {
        // The kernel's own numbers for that, from `ERESTARTSYS` to `ERESTART_RESTARTBLOCK`.
        self.0.orig_rax as i64 >= 0 && (-516..=-512).contains(&self.result())
    }

    /// All that the program can see of them.
    pub fn words(&self) -> [u64; 22] {
        let it = &self.0;
        [
            it.rip,
            it.rsp,
            it.rax,
            it.rbx,
            it.rcx,
            it.rdx,
            it.rsi,
            it.rdi,
            it.rbp,
            it.r8,
            it.r9,
            it.r10,
            it.r11,
            it.r12,
            it.r13,
            it.r14,
            it.r15,
            it.eflags & !TRACING_FLAGS,
            it.fs_base,
            it.gs_base,
            it.cs,
            it.ss,
        ]
    }
}

/// What the kernel writes into a process by itself: which processor it runs on.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct RestartableSequences {
    address: u64,
    size: u32,
    signature: u32,
    flags: u32,
    padding: u32,
}

/// Asks for [`RestartableSequences`].
const GET_RSEQ_CONFIGURATION: libc::c_uint = 0x420f;
/// All registers of floating point and vectors.
const NT_X86_XSTATE: usize = 0x202;
/// The stop that was asked for.
const PTRACE_EVENT_STOP: i32 = 128;
/// Marks stops at system calls.
const SYSTEM_CALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// A request without an answer in memory.
fn request(what: libc::c_uint, pid: libc::pid_t, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of these requests writes to our memory.
    check(unsafe { libc::ptrace(what, pid, address, data) }).map(drop)
}

/// Has our parent trace us: the next program that we become stops before its first instruction.
pub fn trace_me() -> io::Result<()> {
    request(libc::PTRACE_TRACEME, 0, 0, 0)
}

/// Begins to trace a process, which goes on.
pub fn seize(pid: libc::pid_t) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACESYSGOOD as usize;
    request(libc::PTRACE_SEIZE, pid, 0, options)
}

/// Traces a process no more; it goes on, with a signal if that is not 0.
pub fn let_go(pid: libc::pid_t, signal: i32) {
    // One that has ended needs no more.
    let _ = request(libc::PTRACE_DETACH, pid, 0, signal as usize);
}

/// Sends `SIGABRT` to a process.
pub fn send_abort(pid: libc::pid_t) {
    // SAFETY: no memory is involved.
    unsafe { libc::kill(pid, libc::SIGABRT) };
}

/// Asks a process to stop.
pub fn interrupt(pid: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, pid, 0, 0)
}

/// Lets a process execute one instruction.
pub fn step(pid: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_SINGLESTEP, pid, 0, 0)
}

/// Lets a process go on until it makes a system call.
pub fn go_on(pid: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, pid, 0, 0)
}

/// How long a process may take to stop: one that waits in a system call does not.
const PATIENCE: Duration = Duration::from_secs(1);

/// Puts a word into the memory of a process that has stopped.
pub fn put(pid: libc::pid_t, address: u64, word: u64) -> io::Result<()> {
    request(libc::PTRACE_POKEDATA, pid, address as usize, word as usize)
}

/// Waits until a traced process stops.
pub fn wait_for_stop(pid: libc::pid_t) -> io::Result<Stop> {
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some((_, status)) = wait(pid, libc::__WALL | libc::WNOHANG)? {
            break status;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        wait_for_child(left);
    };
    if !libc::WIFSTOPPED(status) {
        return Ok(Stop::Ended(status));
    }
    Ok(match (libc::WSTOPSIG(status), status >> 16) {
        (_, PTRACE_EVENT_STOP) => Stop::Asked,
        (SYSTEM_CALL_STOP, _) => Stop::SystemCall,
        (libc::SIGTRAP, _) => Stop::Step,
        (signal, _) => Stop::Signal(signal),
    })
}

/// The registers of a process that has stopped.
pub fn registers(pid: libc::pid_t) -> io::Result<Registers> {
    let mut registers = MaybeUninit::<libc::user_regs_struct>::uninit();
    // SAFETY: the call fills `registers`, or fails.
    unsafe {
        check(libc::ptrace(
            libc::PTRACE_GETREGS,
            pid,
            0,
            registers.as_mut_ptr(),
        ))?;
        Ok(Registers(registers.assume_init()))
    }
}

/// Its registers of floating point and vectors, as the kernel lays them out.
pub fn vector_registers(pid: libc::pid_t) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0u8; 1 << 14];
    let mut place = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: there is room for as many bytes as `place` says, and it says how many there are then.
    check(unsafe { libc::ptrace(libc::PTRACE_GETREGSET, pid, NT_X86_XSTATE, &raw mut place) })?;
    bytes.truncate(place.iov_len);
    Ok(bytes)
}

/// The memory of a process that the kernel changes by itself: address and size.
pub fn kernel_memory(pid: libc::pid_t) -> (u64, u64) {
    let mut it = RestartableSequences::default();
    let size = mem::size_of::<RestartableSequences>();
    // SAFETY: there is room for as many bytes as we say. Where it fails there is none, or it is not known.
    let result = unsafe { libc::ptrace(GET_RSEQ_CONFIGURATION, pid, size, &raw mut it) };
    match result > 0 {
        true => (it.address, it.size.max(32).into()),
        false => (0, 0),
    }
}
