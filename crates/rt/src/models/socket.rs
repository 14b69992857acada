//! `<sys/socket.h>`: input from sockets.

use nearmiss_abi::channel::ChannelKind;

use super::model;
use super::real::{IoVector, Message};
use super::unistd::{about_to_read, about_to_read_parts, is_readable, received, received_parts};
use crate::arrivals::Reading;
use crate::calls::Call;
use crate::formula::Word;
use crate::input::Source;
use crate::runtime::Runtime;

/// The bytes are looked at and stay where they are: they come again.
const MSG_PEEK: i32 = 2;

/// Where a `recv` with these flags gets its bytes.
fn source(runtime: &mut Runtime, fd: i32, flags: i32) -> Option<Source> {
    if flags & MSG_PEEK != 0 {
        return None;
    }
    runtime.source(fd)
}

/// `got` bytes, perhaps of a longer packet of which the rest is lost, came to `buffer`.
fn came(
    runtime: &mut Runtime,
    call: &Call,
    source: Option<Source>,
    (buffer, size): (*mut u8, usize),
    got: isize,
) {
    let got = got.min(size as isize);
    received(runtime, call, source, buffer, got);
}

model! {
    fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
    after |runtime, call, fd| {
        call.fix(runtime, "lll");
        runtime.made_flow(&[fd], ChannelKind::Socket);
    }
}

model! {
    fn socketpair(domain: i32, kind: i32, protocol: i32, pair: *mut i32) -> i32;
    after |runtime, call, result| {
        call.fix(runtime, "lllp");
        if result == 0 {
            runtime.shadow.clear(pair as u64, 8);
            // SAFETY: the real function has just written them.
            let pair = unsafe { [pair.read(), pair.add(1).read()] };
            runtime.made_flow(&pair, ChannelKind::Socket);
            runtime.keep_pair(pair);
        }
    }
}

model! {
    fn accept(fd: i32, address: *mut u8, size: *mut u32) -> i32;
    after |runtime, call, new| {
        call.fix(runtime, "lpp");
        runtime.made_flow(&[new], ChannelKind::Socket);
    }
}

model! {
    fn accept4(fd: i32, address: *mut u8, size: *mut u32, flags: i32) -> i32;
    after |runtime, call, new| {
        call.fix(runtime, "lppl");
        runtime.made_flow(&[new], ChannelKind::Socket);
    }
}

model! {
    fn recv(fd: i32, buffer: *mut u8, size: usize, flags: i32) -> isize;
    before |runtime, call| {
        let source = source(runtime, fd, flags);
        about_to_read(runtime, call, source, (buffer, size))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "l..l");
        came(runtime, call, reading.source, (buffer, size), got);
    }
}

model! {
    fn __recv_chk(fd: i32, buffer: *mut u8, size: usize, room: usize, flags: i32) -> isize;
    before |runtime, call| {
        let source = source(runtime, fd, flags);
        about_to_read(runtime, call, source, (buffer, size))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "l...l");
        came(runtime, call, reading.source, (buffer, size), got);
    }
}

model! {
    fn recvfrom(fd: i32, buffer: *mut u8, size: usize, flags: i32, address: *mut u8, room: *mut u32) -> isize;
    before |runtime, call| {
        let source = source(runtime, fd, flags);
        about_to_read(runtime, call, source, (buffer, size))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "l..lpp");
        came(runtime, call, reading.source, (buffer, size), got);
    }
}

model! {
    fn __recvfrom_chk(fd: i32, buffer: *mut u8, size: usize, known: usize, flags: i32, address: *mut u8, room: *mut u32) -> isize;
    before |runtime, call| {
        let source = source(runtime, fd, flags);
        about_to_read(runtime, call, source, (buffer, size))
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "l...lp");
        came(runtime, call, reading.source, (buffer, size), got);
    }
}

model! {
    fn recvmsg(fd: i32, message: *mut Message, flags: i32) -> isize;
    before |runtime, call| {
        let source = source(runtime, fd, flags);
        let bytes = size_of::<Message>() as u64;
        if is_readable(runtime, call, message as u64, bytes) {
            // SAFETY: it lies in an object of the program's.
            let message = unsafe { message.read() };
            about_to_read_parts(runtime, call, source, (message.vectors, message.count))
        } else {
            Reading::of(source, Word::concrete(0), false)
        }
    };
    after |runtime, call, reading, got| {
        call.fix(runtime, "lpl");
        if got > 0 {
            // SAFETY: the real function took it for a message.
            let message = unsafe { message.read() };
            let vectors: (*const IoVector, usize) = (message.vectors, message.count);
            received_parts(runtime, call, reading.source, vectors, got);
        }
    }
}
