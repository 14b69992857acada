//! What calls through pointers call: `abi::shadow::PointerRow` has the idea.
//!
//! Each program and library lists the functions whose address it takes, with their models. The rows
//! of all of them stand in one table of this file, found by the function's address. It is filled by
//! constructors and by what `dlsym` finds, under a lock, and read without one: a row is complete
//! before its address is written, and stays where it is. A library that is unloaded takes its
//! models along; its rows are free from then on.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use nearmiss_abi::check::Kind;
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::{PointerRow, SummaryWords};
use nearmiss_abi::signature::Signature;
use nearmiss_abi::site::SiteId;

use crate::libraries;
use crate::models::real;
use crate::modules::Module;
use crate::pointers::NULL_PAGE;
use crate::start::own_words;
use crate::system;
use crate::thread::Thread;
use crate::turn;

/// A power of two; rows beyond three quarters of it are left out.
const SLOTS: usize = 4096;
const MAX_ROWS: u32 = SLOTS as u32 / 4 * 3;

/// A row of the table.
struct Slot {
    function: AtomicU64,
    /// 0: the row is free.
    model: AtomicU64,
    signature: AtomicU64,
    name: AtomicPtr<u8>,
    /// The words of the program or library that the model is part of.
    owner: AtomicPtr<SummaryWords>,
}

static TABLE: [Slot; SLOTS] = [const { Slot::empty() }; SLOTS];
static ROWS: AtomicU32 = AtomicU32::new(0);
static LOCK: AtomicU32 = AtomicU32::new(0);

impl Slot {
    const fn empty() -> Slot {
        Slot {
            function: AtomicU64::new(0),
            model: AtomicU64::new(0),
            signature: AtomicU64::new(0),
            name: AtomicPtr::new(ptr::null_mut()),
            owner: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn row(&self) -> PointerRow {
        PointerRow {
            function: self.function.load(Ordering::Acquire),
            model: self.model.load(Ordering::Acquire),
            signature: self.signature.load(Ordering::Relaxed),
            name: self.name.load(Ordering::Relaxed),
        }
    }
}

/// The slots where the rows of an address may stand, in their order.
fn slots(function: u64) -> impl Iterator<Item = &'static Slot> {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = (function.wrapping_mul(MULTIPLIER) >> 32) as usize;
    (0..SLOTS).map(move |step| &TABLE[first.wrapping_add(step) % SLOTS])
}

/// The row of a function that has a model.
fn find(function: u64) -> Option<PointerRow> {
    let rows = slots(function).map(Slot::row);
    let mut rows = rows.take_while(|row| row.function != 0);
    rows.find(|row| row.function == function && row.model != 0)
}

fn insert(row: PointerRow, owner: *mut SummaryWords) {
    if row.function == 0 || row.model == 0 || ROWS.load(Ordering::Relaxed) >= MAX_ROWS {
        return;
    }
    let is_its_own = |slot: &Slot| {
        slot.function.load(Ordering::Relaxed) == row.function
            && slot.owner.load(Ordering::Relaxed) == owner
    };
    let is_new = |slot: &Slot| slot.function.load(Ordering::Relaxed) == 0;
    let Some(slot) = slots(row.function).find(|slot| is_its_own(slot) || is_new(slot)) else {
        return;
    };
    if is_new(slot) {
        ROWS.fetch_add(1, Ordering::Relaxed);
    }
    slot.signature.store(row.signature, Ordering::Relaxed);
    slot.name.store(row.name.cast_mut(), Ordering::Relaxed);
    slot.owner.store(owner, Ordering::Relaxed);
    slot.model.store(row.model, Ordering::Release);
    slot.function.store(row.function, Ordering::Release);
}

/// Takes the lock, for a moment only; signal handlers load no libraries.
fn locked(work: impl FnOnce()) {
    while LOCK.swap(1, Ordering::Acquire) != 0 {
        system::yield_processor();
    }
    work();
    LOCK.store(0, Ordering::Release);
}

/// From now on calls through pointers of this program or library look for models, and those to the
/// functions that it lists find them.
pub fn register(module: &Module) {
    locked(|| {
        // SAFETY: the module is loaded: this is its constructor.
        for row in unsafe { module.pointers() } {
            insert(*row, module.words);
        }
    });
    // SAFETY: the words are a variable of the module.
    unsafe { (&raw mut (*module.words).dispatch).write_volatile(1) };
}

/// The program or library with these words is about to go away.
pub fn unregister(words: *mut SummaryWords) {
    if ROWS.load(Ordering::Relaxed) == 0 {
        return;
    }
    locked(|| {
        for slot in &TABLE {
            if slot.owner.load(Ordering::Relaxed) == words {
                slot.model.store(0, Ordering::Release);
            }
        }
    });
}

/// What a call of `called` calls, if it passes and expects `signature`.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_target(called: u64, signature: u64, site: u64) -> u64 {
    if called < NULL_PAGE && site != 0 {
        // Nothing comes back from there, and the twin's stack does not show the caller.
        turn::with((), |runtime| {
            runtime.check_failed_as(Kind::NullDereference, SiteId(site));
        });
        return called;
    }
    let Some(row) = find(called) else {
        return called;
    };
    let (model, call) = (Signature(row.signature), Signature(signature));
    if !model.takes(call) {
        // What it reads is not seen, and what it makes of its arguments neither.
        turn::with((), |runtime| {
            runtime.trace.note(NoteKind::Call, SiteId(site), 1);
        });
        return called;
    }
    let thread = Thread::current();
    if site != 0 {
        thread.set_model_site(site);
        if model.touches_memory() {
            // As code does that calls the model by its name: see `SummaryWords::calm`.
            // SAFETY: the runtime's own words.
            unsafe { (&raw mut (*own_words().cast_mut()).calm).write_volatile(0) };
        }
    }
    if model.differs_in_width(call) {
        thread.expect(row.model, model);
    }
    row.model
}

/// `dlsym` found `address` under this name.
///
/// # Safety
/// `name` is what `dlsym` was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_looked_up(name: *const u8, address: u64) {
    // SAFETY: the runtime's own words.
    let dispatches = unsafe { (&raw const (*own_words()).dispatch).read_volatile() } != 0;
    if dispatches {
        // The library that it lies in may have been loaded just now.
        libraries::watch();
    }
    if !dispatches || address == 0 || name.is_null() || find(address).is_some() {
        return;
    }
    let is_named = |slot: &&Slot| {
        let row = slot.row();
        // SAFETY: names of rows and of what was looked up end with a zero; a row whose model is
        // there has its library loaded.
        row.model != 0 && unsafe { system::text(row.name) == system::text(name) }
    };
    let Some(slot) = TABLE.iter().find(is_named) else {
        return;
    };
    if is_of_libc(address) {
        let row = PointerRow {
            function: address,
            ..slot.row()
        };
        locked(|| insert(row, slot.owner.load(Ordering::Relaxed)));
    }
}

/// What `dl_iterate_phdr` says about a loaded object, as far as it is needed.
#[repr(C)]
struct Loaded {
    bias: u64,
    name: *const u8,
    headers: *const crate::modules::ProgramHeader,
    count: u16,
}

/// Two addresses, and whether they were seen in one object.
struct Together {
    addresses: [u64; 2],
    seen: bool,
}

/// Whether code is part of the C library, and not a plugin's function of the same name.
fn is_of_libc(code: u64) -> bool {
    let mut together = Together {
        addresses: [code, real::__errno_location as *const () as u64],
        seen: false,
    };
    // SAFETY: the function looks at what it is given only.
    unsafe { real::dl_iterate_phdr(look, (&raw mut together).cast()) };
    together.seen
}

unsafe extern "C" fn look(loaded: *const c_void, _: usize, together: *mut c_void) -> i32 {
    // SAFETY: the C library passes an object, `is_of_libc` the rest.
    unsafe {
        let (loaded, together) = (&*loaded.cast::<Loaded>(), &mut *together.cast::<Together>());
        let headers = core::slice::from_raw_parts(loaded.headers, loaded.count as usize);
        let is_inside = |address: &u64| {
            let mut headers = headers.iter();
            headers.any(|header| header.loads(loaded.bias, *address))
        };
        together.seen |= together.addresses.iter().all(is_inside);
    }
    0
}
