//! One function per row of `abi::hook`, called by the entry points in [`crate::entry`].
//!
//! Each unpacks its arguments and does its work on the runtime's state, if there is a
//! recording to work on.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::{MAX_WIDTH, Op};
use nearmiss_abi::shadow::RED_ZONE;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use crate::bounds::Span;
use crate::calls;
use crate::events::note_kind;
use crate::objects::{Object, ObjectKind};
use crate::runtime::Runtime;
use crate::symbolic::Access;
use crate::turn;

/// Counts the hook and does its work.
#[inline(always)]
fn hook<R>(otherwise: R, work: impl FnOnce(&mut Runtime) -> R) -> R {
    turn::with(otherwise, |runtime| {
        runtime.trace.count_hook();
        work(runtime)
    })
}

fn valid_width(width: u32) -> bool {
    (1..=MAX_WIDTH).contains(&width)
}

pub extern "C" fn binary(op_width: u32, a: u32, b: u32, a_value: u64, b_value: u64) -> Label {
    if a | b == CONCRETE {
        return CONCRETE;
    }
    let width = op_width >> 8;
    let Some(op) = Op::from_code(op_width as u8) else {
        return CONCRETE;
    };
    if !valid_width(width) {
        return CONCRETE;
    }
    hook(CONCRETE, |runtime| {
        if op == Op::Concat {
            runtime.concatenate_operands(width, [a, b], [a_value, b_value])
        } else {
            runtime.operate(op, width, [a, b], [a_value, b_value])
        }
    })
}

pub extern "C" fn cast(cast: u32, a: u32) -> Label {
    let (from, to) = (cast >> 8 & 0xff, cast >> 16 & 0xff);
    if a == CONCRETE || !valid_width(from) || !valid_width(to) {
        return CONCRETE;
    }
    hook(CONCRETE, |runtime| {
        if runtime.width(a) != from {
            return runtime.no_such_operation();
        }
        match Op::from_code(cast as u8) {
            Some(Op::ZExt) if from <= to => runtime.zero_extend(a, to),
            Some(Op::SExt) if from <= to => runtime.sign_extend(a, to),
            Some(Op::Extract) if to <= from => runtime.extract(a, 0, to),
            _ => runtime.no_such_operation(),
        }
    })
}

pub extern "C" fn extract(a: u32, low: u32, width: u32) -> Label {
    if a == CONCRETE || !valid_width(width) || low >= MAX_WIDTH {
        return CONCRETE;
    }
    hook(CONCRETE, |runtime| runtime.extract(a, low, width))
}

pub extern "C" fn constant(width: u32, low: u64, high: u64) -> Label {
    if !valid_width(width) {
        return CONCRETE;
    }
    let value = low as u128 | (high as u128) << 64;
    hook(CONCRETE, |runtime| runtime.constant(width, value))
}

pub extern "C" fn select(
    width_truth: u32,
    condition: u32,
    a: u32,
    b: u32,
    a_value: u64,
    b_value: u64,
) -> Label {
    let (width, truth) = (width_truth & 0xff, width_truth >> 8 & 1 != 0);
    if condition | a | b == CONCRETE || !valid_width(width) {
        return CONCRETE;
    }
    hook(CONCRETE, |runtime| {
        runtime.choose(width, (condition, truth), [a, b], [a_value, b_value])
    })
}

/// Address and size of a packed `address_size`.
fn unpack(address_size: u64) -> (u64, u32) {
    const ADDRESS_BITS: u32 = 56;
    (
        address_size & ((1 << ADDRESS_BITS) - 1),
        (address_size >> ADDRESS_BITS) as u32,
    )
}

pub extern "C" fn load(address_size: u64, value: u64, site: u64) -> Label {
    let (address, size) = unpack(address_size);
    let access = Access {
        address,
        size,
        value,
    };
    hook(CONCRETE, |runtime| runtime.load_at(access, SiteId(site)))
}

pub extern "C" fn load_symbolic(label: u32, address_size: u64, value: u64, site: u64) -> Label {
    let (address, size) = unpack(address_size);
    let access = Access {
        address,
        size,
        value,
    };
    hook(CONCRETE, |runtime| {
        runtime.load_symbolic(label, access, SiteId(site))
    })
}

pub extern "C" fn store(address_size: u64, label: u32, site: u64) {
    let place = unpack(address_size);
    hook((), |runtime| runtime.store_at(place, label, SiteId(site)));
}

pub extern "C" fn store_symbolic(
    address_label: u32,
    address_size: u64,
    label: u32,
    value: u64,
    old: u64,
    site: u64,
) {
    let (address, size) = unpack(address_size);
    let access = Access {
        address,
        size,
        value,
    };
    hook((), |runtime| {
        runtime.store_symbolic(address_label, access, (label, old), SiteId(site));
    });
}

pub extern "C" fn approach(label: u32, address_size: u64, base: u64, write: u32, site: u64) {
    let (address, size) = unpack(address_size);
    let access = Access {
        address,
        size,
        value: 0,
    };
    hook((), |runtime| {
        runtime.approached = (SiteId(site), base);
        runtime.approach(label, access, write != 0, SiteId(site));
    });
}

pub extern "C" fn range(
    address: u64,
    address_label: u32,
    size: u64,
    size_label: u32,
    write: u32,
    site: u64,
) {
    hook((), |runtime| {
        let span = Span {
            address: runtime.word(address_label, address),
            size: runtime.word(size_label, size),
            write: write != 0,
            site: SiteId(site),
        };
        runtime.check_span(&span);
    });
}

pub extern "C" fn stack_object(address: u64, size: u64) {
    hook((), |runtime| {
        runtime.shadow.clear(address, size);
        let object = Object::new(address, size, ObjectKind::Stack);
        runtime.objects.insert(object);
    });
}

pub extern "C" fn stack_block(address: u64, size: u64) {
    hook((), |runtime| {
        runtime.shadow.clear(address, size);
        let object = Object::new(address, size, ObjectKind::Stack);
        runtime.objects.insert(object.zoned(RED_ZONE));
    });
}

pub extern "C" fn stack_object_sized(address: u64, size: u64, size_label: u32, _site: u64) {
    hook((), |runtime| {
        runtime.shadow.clear(address, size);
        runtime.add_object(address, size, size_label, ObjectKind::Stack);
    });
}

pub extern "C" fn stack_object_ends(address: u64, size: u64) {
    hook((), |runtime| {
        let end = address.saturating_add(size);
        if runtime.objects.end_within(address, end) {
            runtime.shadow.clear_sized(address, size);
        }
    });
}

pub extern "C" fn swallowed(pointer: u64, callee: u64, site: u64) {
    hook((), |runtime| {
        runtime.swallowed(pointer, callee, SiteId(site));
    });
}

pub extern "C" fn answered(value: u64, callee: u64, site: u64) {
    hook((), |runtime| {
        if callee == 0 || !runtime.is_instrumented(callee) {
            runtime.note_answer(value, SiteId(site));
        }
    });
}

pub extern "C" fn clear(address: u64, size: u64) {
    hook((), |runtime| runtime.shadow.clear(address, size));
}

pub extern "C" fn opaque(address: u64, size: u64, kind: u32, site: u64) {
    hook((), |runtime| {
        runtime.opaque(address, size, note_kind(kind), SiteId(site));
    });
}

pub extern "C" fn copy(to: u64, from: u64, size: u64) {
    hook((), |runtime| runtime.shadow.copy(to, from, size));
}

pub extern "C" fn fill(to: u64, size: u64, label: u32) {
    hook((), |runtime| runtime.fill(to, size, label));
}

pub extern "C" fn compared(left: u64, right: u64, site: u64) {
    hook((), |runtime| runtime.compared(left, right, SiteId(site)));
}

/// The last argument is the entry point's own: see [`crate::entry`].
pub extern "C" fn branch(label: u32, truth: u32, site: u64, stack_pointer: u64) {
    hook((), |runtime| {
        runtime.branched(label, truth & 1 != 0, SiteId(site), stack_pointer);
    });
}

pub extern "C" fn check(label: u32, truth: u32, site: u64) {
    hook((), |runtime| {
        runtime.decided(EventKind::Check, label, truth & 1 != 0, SiteId(site));
    });
}

pub extern "C" fn check_failed(site: u64) {
    hook((), |runtime| runtime.check_failed(SiteId(site)));
}

/// The last argument is the entry point's own: see [`crate::entry`].
pub extern "C" fn switch(label: u32, site: u64, stack_pointer: u64) {
    hook((), |runtime| {
        runtime.switched(label, SiteId(site), stack_pointer)
    });
}

pub extern "C" fn fix(label: u32, kind: u32, site: u64) {
    hook((), |runtime| {
        let (kind, site) = (note_kind(kind), SiteId(site));
        if kind == NoteKind::Jump {
            runtime.check_target(label, site);
        }
        runtime.fix(label, kind, site)
    });
}

pub extern "C" fn lost(label: u32, kind: u32, site: u64) {
    hook((), |runtime| {
        runtime.lost(label, note_kind(kind), SiteId(site));
    });
}

pub extern "C" fn enter(function: u64) {
    calls::enter(function);
}

pub extern "C" fn returned(callee: u64, value: u64, width: u32, index: u32) -> Label {
    if !valid_width(width) {
        return CONCRETE;
    }
    hook(CONCRETE, |runtime| {
        runtime.returned(callee, value, width, index)
    })
}

pub extern "C" fn tails(function: u64) {
    hook((), |runtime| runtime.tails(function));
}

pub extern "C" fn keep_arguments(buffer: u64) {
    // SAFETY: instrumented code passes its own buffer of that size.
    unsafe { calls::keep_arguments(buffer as *mut u32) };
}

pub extern "C" fn va_start(list: u64, buffer: u64, fixed: u32) {
    hook((), |runtime| {
        // SAFETY: instrumented code passes what it has just initialised.
        unsafe {
            runtime.label_variadic(
                list as *const calls::VaList,
                buffer as *const u32,
                fixed as usize,
            );
        }
    });
}
