//! What every function of a module shares: hooks, the summary, the thread's words, sites.

use nearmiss_abi::hook::{ABI_SYMBOL, HOOKS, Word};
use nearmiss_abi::shadow::{
    CALM_OFFSET, DISPATCH_OFFSET, MASK_OFFSET, SUMMARY_SIZE, SUMMARY_SYMBOL, THREAD_SIZE,
    THREAD_SYMBOL,
};
use nearmiss_abi::site::SiteId;
use nearmiss_sites::{Loop, SiteKind};
use rustc_hash::FxHashMap;

use crate::flow::Flow;
use crate::llvm::{Builder, Linkage, Module, Type, Value};
use crate::sitemap::{Place, SiteMap};
use crate::transfer::foreign;

/// The module being instrumented.
#[derive(Debug)]
pub struct Context {
    /// The module.
    pub module: Module,
    /// Writes instructions.
    pub builder: Builder,
    /// The growing site map.
    pub sites: SiteMap,
    /// The growing control flow.
    pub flow: Flow,
    /// Whether the unit is a part of the models.
    pub is_model_unit: bool,
    /// Whether a selection is a decision of the path.
    pub choices_are_branches: bool,
    hooks: FxHashMap<&'static str, Value>,
    summary: Value,
    thread: Value,
}

impl Context {
    /// Declares the runtime in `module`.
    pub fn new(module: Module, sites: SiteMap, flow: Flow) -> Context {
        let builder = Builder::new(&module);
        let byte = builder.integer_type(8);
        let hooks = HOOKS
            .iter()
            .map(|hook| (hook.symbol, declare_hook(&module, &builder, hook)))
            .collect();
        // Both are opaque blocks of bytes here; their layout is in `abi::shadow`.
        let summary = module.declare_variable(
            SUMMARY_SYMBOL,
            array_of(byte, SUMMARY_SIZE),
            Linkage::Hidden,
        );
        let thread = module.declare_variable(
            THREAD_SYMBOL,
            array_of(byte, THREAD_SIZE),
            Linkage::ThreadLocal,
        );
        module.require_symbol(ABI_SYMBOL);
        let is_model_unit = foreign::is_model_unit(&module);
        Context {
            module,
            builder,
            sites,
            flow,
            is_model_unit,
            choices_are_branches: false,
            hooks,
            summary,
            thread,
        }
    }

    /// Calls the hook `name` (without its prefix).
    pub fn hook(&self, name: &str, arguments: &[Value]) -> Value {
        let function = self
            .hooks
            .iter()
            .find(|(symbol, _)| symbol.strip_prefix("__nm_") == Some(name));
        let (_, function) = function.unwrap_or_else(|| panic!("no hook named {name}"));
        self.builder.call_hook(*function, arguments)
    }

    /// Loads the summary's base and mask.
    pub fn load_summary_words(&self) -> (Value, Value) {
        let pointer = self.builder.pointer_type();
        let base = self.builder.load(pointer, self.summary);
        self.builder.mark_invariant(base);
        let second = self
            .builder
            .offset(self.summary, self.builder.u64(MASK_OFFSET as u64));
        let mask = self.builder.load(self.builder.integer_type(64), second);
        self.builder.mark_invariant(mask);
        (base, mask)
    }

    /// The address of the word that is not 0 until something sensitive is done.
    pub fn calm_word(&self) -> Value {
        self.builder
            .offset(self.summary, self.builder.u64(CALM_OFFSET as u64))
    }

    /// The address of the word that is not 0 where calls through pointers look for models.
    pub fn dispatch_word(&self) -> Value {
        self.builder
            .offset(self.summary, self.builder.u64(DISPATCH_OFFSET as u64))
    }

    /// The address of a word of the thread's block.
    pub fn thread_word(&self, offset: usize) -> Value {
        self.builder
            .offset(self.thread, self.builder.u64(offset as u64))
    }

    /// Adds a site at `instruction`; its number as a constant.
    pub fn site(&mut self, kind: SiteKind, instruction: Value) -> Value {
        let id = self.sites.add(kind, &Place::of(instruction), None);
        self.flow.add(instruction, id);
        self.site_constant(id)
    }

    /// Adds the site of a branch or switch in this loop, if any.
    pub fn site_in_loop(
        &mut self,
        kind: SiteKind,
        instruction: Value,
        in_loop: Option<&Loop>,
    ) -> Value {
        let place = Place::of(instruction);
        let id = self.sites.add(kind, &place, in_loop.cloned());
        self.flow.add(instruction, id);
        self.site_constant(id)
    }

    /// A site's number as a constant.
    pub fn site_constant(&self, id: SiteId) -> Value {
        self.builder.u64(id.0)
    }
}

fn declare_hook(module: &Module, builder: &Builder, hook: &nearmiss_abi::hook::Hook) -> Value {
    let parameters: Vec<Type> = hook
        .arguments
        .iter()
        .map(|word| match word {
            Word::U32 => builder.integer_type(32),
            Word::U64 => builder.integer_type(64),
        })
        .collect();
    let result = if hook.returns_label {
        builder.integer_type(32)
    } else {
        module.void_type()
    };
    let function = module.declare_function(hook.symbol, result, &parameters, false);
    module.set_preserve_most(function);
    function
}

fn array_of(element: Type, count: usize) -> Type {
    element.array(count as u64)
}
