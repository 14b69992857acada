//! The control flow of a unit, written down for those who search in it (`nearmiss_sites::flow`).
//!
//! A function's flow is taken before it is instrumented; which site lies where is known when its
//! hooks have been written.

use nearmiss_abi::site::SiteId;
use nearmiss_sites::flow::{
    DESTRUCTORS, FlowBlock, FlowCall, FlowPoint, FunctionFlow, MARKER, SiteFlow, UnitFlow,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::checks::Failures;
use crate::llvm::{Block, Module, Opcode, Value};
use crate::loops;
use crate::rewrite;
use crate::sitemap::{Place, SiteMap};
use crate::variables;

/// The growing control flow of a unit.
#[derive(Debug, Default)]
pub struct Flow {
    unit: UnitFlow,
    /// Functions whose address is taken.
    pointed: FxHashSet<Value>,
    /// Variables that may change.
    changing: FxHashSet<Value>,
    /// Where the instructions of the function in work are.
    points: FxHashMap<Value, FlowPoint>,
    /// Where the ways of its decisions lead.
    ways: FxHashMap<Value, Vec<Option<FlowPoint>>>,
}

impl Flow {
    /// Nothing yet; the module is not instrumented.
    pub fn new(unit: u64, module: &Module) -> Flow {
        let pointed = module.functions().into_iter();
        let pointed: FxHashSet<Value> = pointed.filter(|it| is_pointed(*it)).collect();
        let elsewhere = pointed.iter().filter(|it| it.is_declaration());
        Flow {
            unit: UnitFlow {
                unit,
                functions: destructors(module).into_iter().collect(),
                pointed: elsewhere.map(|it| it.name()).collect(),
            },
            changing: variables::changing(module),
            pointed,
            ..Flow::default()
        }
    }

    /// Takes the flow of a function that is about to be instrumented.
    pub fn enter(&mut self, function: Value, failures: &Failures, sites: &mut SiteMap) {
        let blocks = function.blocks();
        let numbers: FxHashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
        let start = |block: &Block| FlowPoint {
            block: numbers[block],
            calls: 0,
        };
        self.points.clear();
        self.ways.clear();
        let mut taken = Vec::with_capacity(blocks.len());
        for (number, block) in (0..).zip(&blocks) {
            let end = block.terminator();
            let ways = loops::ways(end);
            (self.ways).insert(end, ways.iter().map(|way| Some(start(way))).collect());
            taken.push(self.take(*block, number, &numbers, sites));
        }
        self.unit.functions.push(FunctionFlow {
            name: function.name(),
            file: rewrite::file_of(function),
            is_local: function.is_local(),
            of_type: function.global_value_type().text(),
            is_pointed: self.pointed.contains(&function),
            reads: variables::read_by(function, &self.changing),
            answers: answers(&blocks),
            blocks: taken,
            sites: Vec::new(),
        });
        for (block, failure) in failures.iter() {
            let jumps = block.jumps();
            let single = (jumps.len() == 1).then(|| jumps[0]);
            let next = single
                .and_then(|jump| failures.check(jump))
                .map(|it| it.next);
            let sites = [Some(failure.site), failure.second_site];
            for site in sites.into_iter().flatten() {
                let at = single.and_then(|jump| self.points.get(&jump).copied());
                let ways = vec![Some(start(&block)), next.map(|next| start(&next))];
                self.push(SiteFlow {
                    site: site.local(),
                    at,
                    ways,
                });
            }
        }
    }

    fn take(
        &mut self,
        block: Block,
        number: u32,
        numbers: &FxHashMap<Block, u32>,
        sites: &mut SiteMap,
    ) -> FlowBlock {
        let mut taken = FlowBlock::default();
        for instruction in block.instructions() {
            let point = FlowPoint {
                block: number,
                calls: taken.calls.len() as u32,
            };
            self.points.insert(instruction, point);
            taken.calls.extend(call(instruction));
            let place = Place::of(instruction);
            if let (Some(file), 1..) = (&place.file, place.line) {
                let line = (sites.file(file), place.line);
                if !taken.lines.contains(&line) {
                    taken.lines.push(line);
                }
            }
        }
        let end = block.terminator();
        let successors = end.successors();
        taken.successors = successors.iter().map(|block| numbers[block]).collect();
        taken.returns = end.opcode() == Opcode::LLVMRet;
        taken
    }

    /// A site lies at an instruction of the function in work.
    pub fn add(&mut self, instruction: Value, site: SiteId) {
        let Some(&at) = self.points.get(&instruction) else {
            return;
        };
        let ways = self.ways.get(&instruction).cloned().unwrap_or_default();
        self.push(SiteFlow {
            site: site.local(),
            at: Some(at),
            ways,
        });
    }

    fn push(&mut self, site: SiteFlow) {
        if let Some(function) = self.unit.functions.last_mut() {
            function.sites.push(site);
        }
    }

    /// All of it.
    pub fn finish(self) -> UnitFlow {
        self.unit
    }
}

/// Tables of functions that are called behind the end of `main`, by their name or section.
const END_TABLES: &[&str] = &[DESTRUCTORS, ".fini_array", ".dtors"];

/// A function that calls the unit's destructors, if it has any.
fn destructors(module: &Module) -> Option<FunctionFlow> {
    let is_table = |variable: &Value| {
        let (name, section) = (variable.name(), variable.section());
        let mut tables = END_TABLES.iter();
        tables.any(|table| name == *table || section.starts_with(table))
    };
    let tables = module.variables().into_iter().filter(is_table);
    let entries: Vec<Value> = tables.filter_map(Value::initializer).collect();
    let mut called = Vec::new();
    entries
        .iter()
        .for_each(|entry| add_functions(*entry, &mut called));
    let block = FlowBlock {
        calls: called.into_iter().map(FlowCall::Named).collect(),
        returns: true,
        ..FlowBlock::default()
    };
    (!block.calls.is_empty()).then(|| FunctionFlow {
        name: DESTRUCTORS.into(),
        is_local: true,
        blocks: vec![block],
        ..FunctionFlow::default()
    })
}

/// The names of the functions that a constant has in it.
fn add_functions(constant: Value, names: &mut Vec<String>) {
    if constant.is_function() {
        names.push(constant.name());
    } else if !constant.is_global_variable() {
        (constant.operands()).for_each(|part| add_functions(part, names));
    }
}

/// Whether a function is used otherwise than by being called.
fn is_pointed(function: Value) -> bool {
    let is_other_use = |user: &Value| {
        let is_call = user.is_instruction() && is_call(*user);
        !is_call || user.called() != function || user.arguments().contains(&function)
    };
    function.users().iter().any(is_other_use)
}

fn is_call(instruction: Value) -> bool {
    use Opcode::{LLVMCall, LLVMCallBr, LLVMInvoke};
    matches!(instruction.opcode(), LLVMCall | LLVMInvoke | LLVMCallBr)
}

/// The name of what assembly calls.
const ASSEMBLY: &str = "assembly in a function";

/// The functions whose answers code looks at.
fn answers(blocks: &[Block]) -> Vec<String> {
    let instructions = blocks.iter().flat_map(|block| block.instructions());
    let named = instructions.filter_map(|it| match call(it) {
        Some(FlowCall::Named(name)) if !it.users().is_empty() => Some(name),
        _ => None,
    });
    let mut names: Vec<String> = named.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What an instruction calls.
fn call(instruction: Value) -> Option<FlowCall> {
    if !is_call(instruction) {
        return None;
    }
    let called = instruction.called();
    if called.is_inline_assembly() {
        // What it calls is not known: a name that nothing has may call anything.
        let text = called.assembly();
        let calls = ["call", "jmp"].iter().any(|word| text.contains(word));
        return calls.then(|| FlowCall::Named(ASSEMBLY.into()));
    }
    if !called.is_function() {
        return Some(FlowCall::Pointer(instruction.called_type().text()));
    }
    let name = called.name();
    if name == MARKER {
        let number = instruction.arguments().first()?.constant_integer()?;
        return Some(FlowCall::Mark(number as u32));
    }
    let is_jump = name.starts_with("llvm.eh.sjlj.");
    let is_silent = name.starts_with("llvm.") && !is_jump || name.starts_with("__ubsan_");
    (!is_silent).then_some(FlowCall::Named(name))
}
