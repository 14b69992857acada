//! Shadow memory, and the words through which labels pass from caller to callee.
//!
//! Two shadows mirror memory. The *labels* ([`crate::term::ShadowWord`], four bytes a byte)
//! say which term each byte holds; only the runtime touches them. The *summary* (one byte a
//! granule of eight bytes) is non-zero where any label of the granule may be non-zero; it is
//! all that instrumented code looks at:
//!
//! ```text
//! summary byte of address x:   *(base + ((x >> 3) & mask))
//! ```
//!
//! `base` and `mask` are the two words of the hidden variable [`SUMMARY_SYMBOL`] of each
//! program and shared library. A process that does not record has `mask` 0 and `base` at a
//! block of zeros in the runtime: no mapping, no page touched, one hot cache line.

/// log2 of the bytes that one summary byte speaks for.
pub const GRANULE_SHIFT: u32 = 3;

/// `mask` of a recording process: 44 bits of address. User addresses on x86-64 differ in the
/// low 44 bits as long as the program, the heap and the stack keep their usual places.
pub const SUMMARY_MASK: u64 = (1 << (44 - GRANULE_SHIFT)) - 1;

/// Bytes of zeros behind `base` in a process that does not record (a 16-bit read at 0 stays
/// inside).
pub const ZERO_BLOCK: usize = 64;

/// Bits of a summary byte. Instrumented code asks only whether it is 0.
///
/// A byte of the granule may have a label.
pub const SUMMARY_LABEL: u8 = 1;
/// The granule belongs to an object whose size is symbolic: every access is to be checked.
pub const SUMMARY_SIZED: u8 = 2;

/// The section of instrumented objects that lists their variables: rows of [`GlobalRow`].
/// Its name is a C identifier, so that the linker defines `__start_` and `__stop_` symbols.
pub const GLOBALS_SECTION: &str = "nearmiss_globals";

/// A variable of static storage.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GlobalRow {
    /// Where it lies.
    pub start: u64,
    /// Bytes; with [`ZONED`] where a red zone lies behind it.
    pub size: u64,
}

/// Bytes behind a block of a harness, and where all paths are wanted behind every variable, that
/// belong to none: an access there is seen as one that leaves its object.
pub const RED_ZONE: u64 = 16;

/// The bit of [`GlobalRow::size`] that says that a red zone follows.
pub const ZONED: u64 = 1 << 63;

/// The section of instrumented objects that lists the modelled functions whose address they take, or
/// may look up by name: rows of [`PointerRow`].
pub const POINTERS_SECTION: &str = "nearmiss_pointers";

/// A function of libc and its model. A pointer to the function stays what it is, so that it can be
/// compared, printed and given away; where instrumented code calls it, it calls the model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerRow {
    /// The function; 0 if the program is linked without it.
    pub function: u64,
    /// Its model.
    pub model: u64,
    /// The model's [`crate::signature::Signature`].
    pub signature: u64,
    /// The function's name, which ends with a zero.
    pub name: *const u8,
}

/// The function of the runtime that says what a call through a pointer calls, in a process where
/// [`SummaryWords::dispatch`] is not 0: called pointer, [`crate::signature::Signature`] of the call,
/// its site; the model if the pointer is to a function that has one, else the pointer itself.
pub const TARGET_SYMBOL: &str = "__nm_target";

/// The function of the runtime that is given what `dlsym` has found: the name, the address.
pub const LOOKED_UP_SYMBOL: &str = "__nm_looked_up";

/// The hidden variable of type [`SummaryWords`].
pub const SUMMARY_SYMBOL: &str = "__nm_summary";

/// The base and mask of the summary as instrumented code reads them, and a word of its own.
#[repr(C)]
#[derive(Debug)]
pub struct SummaryWords {
    /// Where the summary of address 0 lies.
    pub base: *const u8,
    /// [`SUMMARY_MASK`], or 0 in a process that does not record.
    pub mask: u64,
    /// 1 in a process that records, from one event on until something *sensitive* is done: what
    /// could go wrong on other data although this run's are concrete (an access with a computed
    /// address, a division, an assertion). Guards of regions with such an operation look at it as
    /// at a label, so that code which does not record pays no store: the region's cold block
    /// makes it 0. The runtime moves what it says into the next event and makes it 1 again.
    pub calm: u32,
    /// 1 in a process that records or is captured: calls through pointers look for models.
    pub dispatch: u32,
}

/// Byte offset of [`SummaryWords::mask`].
pub const MASK_OFFSET: usize = core::mem::offset_of!(SummaryWords, mask);
/// Byte offset of [`SummaryWords::calm`].
pub const CALM_OFFSET: usize = core::mem::offset_of!(SummaryWords, calm);
/// Byte offset of [`SummaryWords::dispatch`].
pub const DISPATCH_OFFSET: usize = core::mem::offset_of!(SummaryWords, dispatch);
/// Bytes of [`SummaryWords`].
pub const SUMMARY_SIZE: usize = core::mem::size_of::<SummaryWords>();

/// How many arguments of a call can carry a label.
pub const MAX_ARGUMENTS: usize = 32;

/// How many structs of a call that are passed by value in memory can carry labels.
pub const MAX_BY_VALUE: usize = 4;

/// Labels on their way between functions: the thread-local variable [`THREAD_SYMBOL`].
///
/// A caller that passes a labelled argument stores all argument labels and, last, the address
/// of the function it is about to call. A function looks at `callee` when it is entered: zero
/// (nearly always) means that all its arguments are concrete. Its own address: the labels are
/// for it. Anything else: somebody called a function without instrumentation; the labels are
/// void. The same with `returned` and `returned_by` on the way back; a caller zeroes
/// `returned` before each call.
#[repr(C)]
#[derive(Debug)]
pub struct ThreadWords {
    /// Address of the function that `arguments` are for; 0: no labels.
    pub callee: u64,
    /// Address of the function that stored `returned`.
    pub returned_by: u64,
    /// Label of the returned value (the first scalar of a returned aggregate).
    pub returned: u32,
    /// Label of the second scalar of a returned aggregate.
    pub returned_second: u32,
    /// The site of the call, for the note if nobody takes the labels.
    pub call_site: u64,
    /// The site of the last call of a model from code that is not itself a model: stored
    /// before every such call, labels or not, so that models can say whose call fails a check.
    pub model_site: u64,
    /// How many of `arguments` were stored.
    pub count: u32,
    /// Zero.
    pub reserved: u32,
    /// Labels of the arguments by position.
    pub arguments: [u32; MAX_ARGUMENTS],
    /// Where the structs lie that are passed by value in memory, in their order: the callee has
    /// copies, and takes the labels from here.
    pub by_value: [u64; MAX_BY_VALUE],
}

/// The thread-local variable (initial-exec model) of type [`ThreadWords`].
pub const THREAD_SYMBOL: &str = "__nm_thread";

/// Byte offset of [`ThreadWords::callee`].
pub const CALLEE_OFFSET: usize = core::mem::offset_of!(ThreadWords, callee);
/// Byte offset of [`ThreadWords::returned_by`].
pub const RETURNED_BY_OFFSET: usize = core::mem::offset_of!(ThreadWords, returned_by);
/// Byte offset of [`ThreadWords::returned`].
pub const RETURNED_OFFSET: usize = core::mem::offset_of!(ThreadWords, returned);
/// Byte offset of [`ThreadWords::returned_second`].
pub const RETURNED_SECOND_OFFSET: usize = core::mem::offset_of!(ThreadWords, returned_second);
/// Byte offset of [`ThreadWords::call_site`].
pub const CALL_SITE_OFFSET: usize = core::mem::offset_of!(ThreadWords, call_site);
/// Byte offset of [`ThreadWords::model_site`].
pub const MODEL_SITE_OFFSET: usize = core::mem::offset_of!(ThreadWords, model_site);
/// Byte offset of [`ThreadWords::count`].
pub const COUNT_OFFSET: usize = core::mem::offset_of!(ThreadWords, count);
/// Byte offset of [`ThreadWords::arguments`].
pub const ARGUMENTS_OFFSET: usize = core::mem::offset_of!(ThreadWords, arguments);
/// Byte offset of [`ThreadWords::by_value`].
pub const BY_VALUE_OFFSET: usize = core::mem::offset_of!(ThreadWords, by_value);
/// Bytes of [`ThreadWords`].
pub const THREAD_SIZE: usize = core::mem::size_of::<ThreadWords>();
