//! The functions of the runtime that instrumented code calls: the one list.
//!
//! [`for_each_hook!`] hands the rows to a macro of the caller's: `rt` makes an entry point of
//! each, [`HOOKS`] makes the table from which `instrument` declares them. Hooks are called on
//! slow paths only, with the `preserve_most` convention (the callee saves every general
//! register but `r11` and the result's), so that fast paths spill nothing for them. A hook
//! `x` is the symbol `__nm_x`; the runtime implements it as the Rust function `hooks::x`.
//!
//! Packed words: `op_width` is `op | width << 8` (width of the *operands*); `cast` is
//! `op | from << 8 | to << 16`; `address_size` is `address | size << 56`; `width_truth` is
//! `width | condition << 8`. A label of 0 goes with a concrete value; the value beside a
//! non-zero label is the value it has in this run.

/// In place of an address that was read: any may have been.
pub const ANYWHERE: u64 = u64::MAX;

/// The type of a hook's argument or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// 32 bits.
    U32,
    /// 64 bits, also for pointers.
    U64,
}

/// A hook as the compiler sees it.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// The symbol.
    pub symbol: &'static str,
    /// The arguments.
    pub arguments: &'static [Word],
    /// Whether it returns a label.
    pub returns_label: bool,
}

/// Calls `$then! { rows }` with one row per hook: `name(arg: type, …) -> u32;` or without
/// the arrow.
#[macro_export]
macro_rules! for_each_hook {
    ($then:ident) => {
        $then! {
            /// A unary or binary operation (`b` is ignored by unary ones), comparison, overflow
            /// test, or `Concat` of two operands of one width.
            binary(op_width: u32, a: u32, b: u32, a_value: u64, b_value: u64) -> u32;
            /// `ZExt`, `SExt`, or truncation (`Extract` from bit 0).
            cast(cast: u32, a: u32) -> u32;
            /// `width` bits of `a` from bit `low` upwards.
            extract(a: u32, low: u32, width: u32) -> u32;
            /// A constant term: wide operands are made terms before they meet an operation.
            constant(width: u32, low: u64, high: u64) -> u32;
            /// `condition ? a : b`.
            select(width_truth: u32, condition: u32, a: u32, b: u32, a_value: u64, b_value: u64) -> u32;
            /// The label of the `size` (1 to 8) bytes at `address`, which hold `value`.
            load(address_size: u64, value: u64, site: u64) -> u32;
            /// A read of `size` bytes at the symbolic address `label`; `value` was read.
            load_symbolic(label: u32, address_size: u64, value: u64, site: u64) -> u32;
            /// The `size` (1 to 8) bytes at `address` now hold the term `label`, or are concrete.
            store(address_size: u64, label: u32, site: u64);
            /// `value` with the label `label` was written to the `size` bytes at the symbolic
            /// address `address_label`; they held `old` before.
            store_symbolic(address_label: u32, address_size: u64, label: u32, value: u64, old: u64, site: u64);
            /// The `size` bytes at the symbolic address `label` are about to be read (`write` 0) or
            /// written (1): told in time for the case that this ends the program. The address was
            /// made of the pointer `base`.
            approach(label: u32, address_size: u64, base: u64, write: u32, site: u64);
            /// `size` bytes at `address` are about to be, or were, read (`write` 0) or written
            /// (1) as a whole, by `memcpy` or the like: a check of their bounds.
            range(address: u64, address_label: u32, size: u64, size_label: u32, write: u32, site: u64);
            /// The life of a stack variable starts: it is concrete, and an object.
            stack_object(address: u64, size: u64);
            /// As `stack_object`, with a red zone behind it that belongs to no variable.
            stack_block(address: u64, size: u64);
            /// The life of a variable-length array or of memory of `alloca` starts; its size
            /// is symbolic.
            stack_object_sized(address: u64, size: u64, size_label: u32, site: u64);
            /// The lives of all stack variables in these `size` bytes end: one variable, or all
            /// that lies below where the stack pointer goes back to.
            stack_object_ends(address: u64, size: u64);
            /// Memory at `pointer` is given to a function `callee` that may be neither
            /// instrumented nor modelled (0: is not). Whether labels can be reached from there is
            /// for the hook to see. `pointer` 0: the labels that were left for the callee
            /// are; 1: it is given no pointer, and only where it is called is of interest; 2: it has a
            /// model, which expects to be called otherwise.
            swallowed(pointer: u64, callee: u64, site: u64);
            /// The function `callee`, which may be neither instrumented nor modelled (0: is not), returned
            /// `value`; of a pointer only whether it is null.
            answered(value: u64, callee: u64, site: u64);
            /// The `size` bytes at `address` are now concrete.
            clear(address: u64, size: u64);
            /// The `size` bytes at `address` were read by something of note kind `kind`; 0:
            /// it is not known how many, nor whether pointers in them were followed. Address
            /// [`ANYWHERE`]: it is not known which.
            opaque(address: u64, size: u64, kind: u32, site: u64);
            /// `memcpy` or `memmove` of `size` bytes was done.
            copy(to: u64, from: u64, size: u64);
            /// `memset` to `label` of `size` bytes was done.
            fill(to: u64, size: u64, label: u32);
            /// The bytes at two addresses are compared: perhaps one turn of a loop over two strings.
            compared(left: u64, right: u64, site: u64);
            /// A branch.
            branch(label: u32, truth: u32, site: u64);
            /// A check: `truth` is 1 when it held, as it must.
            check(label: u32, truth: u32, site: u64);
            /// A check failed; called by the failure path itself, whatever the labels were.
            check_failed(site: u64);
            /// A switch.
            switch(label: u32, site: u64);
            /// `label` is from here on its recorded value; `kind` says why.
            fix(label: u32, kind: u32, site: u64);
            /// `label` was lost without a constraint; `kind` says why.
            lost(label: u32, kind: u32, site: u64);
            /// A function was entered while `ThreadWords::callee` was not 0: afterwards
            /// `arguments` hold the labels of this call (zeros where it was for another).
            enter(function: u64);
            /// The label of the value that a call of `callee` returned while
            /// `ThreadWords::returned` was not 0 (`index` 1: of its second scalar).
            returned(callee: u64, value: u64, width: u32, index: u32) -> u32;
            /// `function` is about to end in a call that takes its place (`musttail`): what that
            /// returns is its own result.
            tails(function: u64);
            /// A variadic function keeps `arguments` in its own `[u32; 1 + MAX_ARGUMENTS]`
            /// (the count first) until `va_start`.
            keep_arguments(buffer: u64);
            /// `va_start` was done: labels the variadic arguments from what was kept.
            /// Labels of variadic arguments carry their class in the top four bits: see
            /// [`crate::hook`]'s `CLASS_*`.
            va_start(list: u64, buffer: u64, fixed: u32);
        }
    };
}

/// A variadic argument in a general register or an eight-byte stack slot.
pub const CLASS_INTEGER: u32 = 0;
/// A variadic argument in a vector register or an eight-byte stack slot.
pub const CLASS_FLOAT: u32 = 1;
/// A variadic argument of another class: those after it have no known place.
pub const CLASS_OTHER: u32 = 2;

macro_rules! word {
    (u32) => {
        Word::U32
    };
    (u64) => {
        Word::U64
    };
}

macro_rules! returns_label {
    () => {
        false
    };
    (u32) => {
        true
    };
}

macro_rules! hook_table {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $word:tt),*) $(-> $result:tt)?;)*) => {
        /// Every hook.
        pub const HOOKS: &[Hook] = &[$(Hook {
            symbol: concat!("__nm_", stringify!($name)),
            arguments: &[$(word!($word)),*],
            returns_label: returns_label!($($result)?),
        },)*];
    };
}

for_each_hook!(hook_table);

/// An undefined symbol of each instrumented object that only a runtime of the same ABI has.
pub const ABI_SYMBOL: &str = "__nm_abi_5";
