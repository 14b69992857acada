//! Makes the graph of the flows of all units.

use std::collections::{HashMap, HashSet};

use nearmiss_abi::site::SiteId;
use nearmiss_sites::flow::{DESTRUCTORS, FlowBlock, FlowCall, FunctionFlow, UnitFlow};

use crate::callbacks;
use crate::graph::{FlowEdge, FlowGraph, FlowNode, FunctionBase};

/// What a call through a pointer of another type costs, and one of an unknown function: unlikely ways.
const UNLIKELY: u32 = 8;

/// The graph of these units. Calls of the functions in `ends` end the run.
pub fn build(units: &[UnitFlow], ends: &[String]) -> FlowGraph {
    let mut builder = Builder {
        ends: ends.iter().map(String::as_str).collect(),
        ..Builder::default()
    };
    for (unit, flow) in units.iter().enumerate() {
        for function in &flow.functions {
            builder.add_function(unit, flow.unit, function);
        }
    }
    for name in units.iter().flat_map(|unit| &unit.pointed) {
        builder.point_to(name);
    }
    builder.find_returning();
    for number in 0..builder.functions.len() {
        builder.connect(number);
    }
    builder.connect_hubs();
    builder.graph
}

/// A function while the graph is built.
#[derive(Debug)]
struct Part<'a> {
    unit: usize,
    flow: &'a FunctionFlow,
    base: FunctionBase,
    /// Whether a call of it can come back.
    returns: bool,
}

impl Part<'_> {
    fn node(&self, block: u32, calls: usize) -> FlowNode {
        FlowNode(self.base.0[block as usize] + calls as u32)
    }
}

#[derive(Debug, Default)]
struct Builder<'a> {
    graph: FlowGraph,
    functions: Vec<Part<'a>>,
    /// Functions that only their unit sees.
    local: HashMap<(usize, &'a str), usize>,
    /// Functions that all units see: a weak one gives way to another of its name, and a library's to the program's.
    global: HashMap<&'a str, Vec<usize>>,
    /// Functions by the type with which their address is taken.
    pointed: HashMap<&'a str, Vec<usize>>,
    /// The nodes of calls through pointers, and behind them, by type.
    through_pointers: HashMap<&'a str, Vec<(FlowNode, FlowNode)>>,
    /// Calls that may call any function whose address is taken.
    unknown: Vec<(FlowNode, FlowNode)>,
    /// Calls of code that is not known at all: it may call any function.
    foreign: Vec<(FlowNode, FlowNode)>,
    /// Functions that end the run.
    ends: HashSet<&'a str>,
    /// Whether functions are given away that may be called at any later call.
    registers: bool,
    /// Whether one may be called at any later point, since a signal arrives.
    has_signals: bool,
    /// Whether the program has a function of a name of the C library's, which may call it wherever it is called.
    replaces_library: bool,
    jumps: Vec<FlowNode>,
    contexts: Vec<FlowNode>,
}

/// What a call leads to.
enum Callee<'a> {
    Functions(Vec<usize>),
    Pointer(&'a str),
    External(&'a str),
    Mark(u32),
}

impl<'a> Builder<'a> {
    fn add_function(&mut self, unit: usize, hash: u64, flow: &'a FunctionFlow) {
        let number = self.functions.len();
        let mut starts = Vec::with_capacity(flow.blocks.len());
        for block in &flow.blocks {
            let start = self.graph.len();
            starts.push(start as u32);
            let points = block.calls.len() + 1;
            self.graph.sources.resize(start + points, Vec::new());
            for &(file, line) in &block.lines {
                // Which of the points has the line's code is not said: all of them count.
                let lines = self.graph.lines.entry((hash, file, line)).or_default();
                lines.extend((start..start + points).map(|node| FlowNode(node as u32)));
            }
        }
        let base = FunctionBase(starts.into());
        for site in &flow.sites {
            let id = SiteId::new(hash, site.site);
            (self.graph.sites).insert(id, (base.clone(), site.clone()));
        }
        if flow.is_local {
            self.local.insert((unit, &flow.name), number);
        } else {
            self.global.entry(&flow.name).or_default().push(number);
            self.replaces_library |= callbacks::is_replaced(&flow.name);
        }
        if flow.is_pointed {
            self.pointed.entry(&flow.of_type).or_default().push(number);
        }
        for call in flow.blocks.iter().flat_map(|block| &block.calls) {
            if let FlowCall::Named(name) = call {
                self.registers |= callbacks::registers(name);
                self.has_signals |= callbacks::takes_signals(name);
                self.graph.has_threads |= callbacks::starts_threads(name);
            }
        }
        if let Some(&first) = base.0.first() {
            let entries = self.graph.entries.entry(flow.name.clone()).or_default();
            entries.push(FlowNode(first));
        }
        self.functions.push(Part {
            unit,
            flow,
            base,
            returns: false,
        });
    }

    /// Some unit takes the address of a function of another one.
    fn point_to(&mut self, name: &str) {
        for number in self.global.get(name).cloned().unwrap_or_default() {
            let of_type = &self.functions[number].flow.of_type;
            let known = self.pointed.entry(of_type).or_default();
            if !known.contains(&number) {
                known.push(number);
            }
        }
    }

    fn callee(&self, unit: usize, call: &'a FlowCall) -> Callee<'a> {
        match call {
            FlowCall::Mark(number) => Callee::Mark(*number),
            FlowCall::Pointer(of_type) => Callee::Pointer(of_type),
            FlowCall::Named(name) => {
                let own = self.local.get(&(unit, name.as_str()));
                match (own, self.global.get(name.as_str())) {
                    (Some(number), _) => Callee::Functions(vec![*number]),
                    (None, Some(numbers)) => Callee::Functions(numbers.clone()),
                    (None, None) => Callee::External(name),
                }
            }
        }
    }

    /// Which functions can return: one that calls only what never does cannot.
    fn find_returning(&mut self) {
        loop {
            let more: Vec<usize> = (0..self.functions.len())
                .filter(|&number| !self.functions[number].returns && self.can_return(number))
                .collect();
            if more.is_empty() {
                return;
            }
            for number in more {
                self.functions[number].returns = true;
            }
        }
    }

    fn can_return(&self, number: usize) -> bool {
        let Part { unit, flow, .. } = &self.functions[number];
        let mut seen = HashSet::from([0]);
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            let Some(block) = flow.blocks.get(block as usize) else {
                continue;
            };
            if !(block.calls.iter()).all(|call| self.comes_back(*unit, call)) {
                continue;
            }
            if block.returns {
                return true;
            }
            let successors = block.successors.iter().copied();
            open.extend(successors.filter(|next| seen.insert(*next)));
        }
        false
    }

    fn comes_back(&self, unit: usize, call: &'a FlowCall) -> bool {
        match self.callee(unit, call) {
            Callee::Functions(callees) => callees.iter().any(|it| self.functions[*it].returns),
            Callee::External(name) => !self.ends.contains(name),
            _ => true,
        }
    }

    fn connect(&mut self, number: usize) {
        let flow = self.functions[number].flow;
        for (index, block) in (0..).zip(&flow.blocks) {
            self.connect_calls(number, index, block);
            let part = &self.functions[number];
            let end = part.node(index, block.calls.len());
            let mut successors = block.successors.clone();
            successors.sort_unstable();
            successors.dedup();
            let cost = u32::from(successors.len() > 1);
            for next in successors {
                let next = part.node(next, 0);
                self.graph.add_edge(end, next, FlowEdge::Within, cost);
            }
        }
    }

    fn connect_calls(&mut self, number: usize, index: u32, block: &'a FlowBlock) {
        let unit = self.functions[number].unit;
        for (position, call) in block.calls.iter().enumerate() {
            let part = &self.functions[number];
            let (before, behind) = (part.node(index, position), part.node(index, position + 1));
            if self.comes_back(unit, call) {
                self.graph.add_edge(before, behind, FlowEdge::Within, 0);
            }
            match self.callee(unit, call) {
                Callee::Mark(mark) => self.graph.marks.push((mark, before)),
                Callee::Functions(callees) => {
                    for callee in callees {
                        self.connect_call(callee, before, behind, 0);
                    }
                }
                Callee::Pointer(of_type) => {
                    let calls = self.through_pointers.entry(of_type).or_default();
                    calls.push((before, behind));
                }
                Callee::External(name) => self.connect_external(name, before, behind),
            }
        }
    }

    fn connect_external(&mut self, name: &str, before: FlowNode, behind: FlowNode) {
        let calls = self.graph.external.entry(name.to_string()).or_default();
        calls.push(behind);
        if callbacks::jumps(name) {
            self.jumps.push(before);
        }
        if callbacks::keeps_context(name) {
            self.contexts.push(behind);
        }
        if self.ends.contains(name) {
            return;
        }
        if !callbacks::is_known(name) {
            self.foreign.push((before, behind));
        } else if self.registers || self.replaces_library || callbacks::calls_back(name) {
            self.unknown.push((before, behind));
        }
    }

    fn connect_call(&mut self, callee: usize, before: FlowNode, behind: FlowNode, cost: u32) {
        let part = &self.functions[callee];
        if part.flow.blocks.is_empty() {
            return;
        }
        self.graph
            .add_edge(before, part.node(0, 0), FlowEdge::Call, cost);
        for (index, block) in (0..).zip(&part.flow.blocks) {
            if block.returns {
                let end = part.node(index, block.calls.len());
                self.graph.add_edge(end, behind, FlowEdge::Return, 0);
            }
        }
    }

    /// Calls through pointers, and by functions that are not known.
    fn connect_hubs(&mut self) {
        let any = self.add_hub();
        for (before, behind) in std::mem::take(&mut self.unknown) {
            self.graph.add_edge(before, any.0, FlowEdge::Call, UNLIKELY);
            self.graph
                .add_edge(any.1, behind, FlowEdge::Return, UNLIKELY);
        }
        for (of_type, calls) in std::mem::take(&mut self.through_pointers) {
            let hub = self.add_hub();
            for (before, behind) in calls {
                self.graph.add_edge(before, hub.0, FlowEdge::Call, 1);
                self.graph.add_edge(hub.1, behind, FlowEdge::Return, 0);
            }
            for callee in self.pointed.get(of_type).cloned().unwrap_or_default() {
                self.connect_call(callee, hub.0, hub.1, 0);
            }
            self.graph.add_edge(hub.0, any.0, FlowEdge::Call, UNLIKELY);
            self.graph
                .add_edge(any.1, hub.1, FlowEdge::Return, UNLIKELY);
        }
        let pointed: Vec<usize> = self.pointed.values().flatten().copied().collect();
        for callee in pointed {
            self.connect_call(callee, any.0, any.1, 0);
            let base = &self.functions[callee].base;
            self.graph
                .pointed
                .extend(base.0.first().copied().map(FlowNode));
        }
        if self.replaces_library {
            self.connect_replaced(any);
        }
        self.connect_foreign();
        self.connect_signals();
        self.connect_end();
        for &jump in &self.jumps {
            for &context in &self.contexts {
                self.graph.add_edge(jump, context, FlowEdge::Jump, 1);
            }
        }
    }

    /// Functions of the C library call those of the program that have taken the place of others.
    fn connect_replaced(&mut self, any: (FlowNode, FlowNode)) {
        let named = self.global.iter();
        let replaced = named.filter(|(name, _)| callbacks::is_replaced(name));
        let replaced: Vec<usize> = replaced.flat_map(|(_, it)| it).copied().collect();
        for callee in replaced {
            self.connect_call(callee, any.0, any.1, 0);
        }
    }

    /// A signal arrives anywhere, also in a loop that calls nothing, and its handler comes back there.
    fn connect_signals(&mut self) {
        self.graph.has_handlers = self.has_signals;
        if !self.has_signals {
            return;
        }
        let nodes = self.graph.len() as u32;
        let hub = self.add_hub();
        for node in (0..nodes).map(FlowNode) {
            self.graph.add_edge(node, hub.0, FlowEdge::Call, UNLIKELY);
            self.graph.add_edge(hub.1, node, FlowEdge::Return, UNLIKELY);
        }
        let pointed = self.pointed.iter();
        let handlers = pointed.filter(|(of_type, _)| callbacks::may_handle_signals(of_type));
        let handlers: Vec<usize> = handlers.flat_map(|(_, it)| it).copied().collect();
        for callee in handlers {
            self.connect_call(callee, hub.0, hub.1, 0);
        }
    }

    /// Behind the end of `main` destructors are called, and functions that were given away to be called then.
    fn connect_end(&mut self) {
        let Some(main) = self.global.get("main").and_then(|it| it.first()) else {
            return;
        };
        let Part { flow, base, .. } = &self.functions[*main];
        let at_end = |block: &FlowBlock, start: &u32| FlowNode(start + block.calls.len() as u32);
        self.graph.ends = (flow.blocks.iter().zip(base.0.iter()))
            .filter(|(block, _)| block.returns)
            .map(|(block, start)| at_end(block, start))
            .collect();
        let is_called = |part: &Part<'_>| {
            let of_type = part.flow.of_type.as_str();
            let is_given = self.pointed.contains_key(of_type)
                && ["void ()", "void (i32, ptr)"].contains(&of_type);
            part.flow.name == DESTRUCTORS || self.registers && is_given
        };
        let called: Vec<FlowNode> = (self.functions.iter())
            .filter(|part| is_called(part))
            .map(|part| part.node(0, 0))
            .collect();
        for end in self.graph.ends.clone() {
            for &first in &called {
                (self.graph).add_edge(end, first, FlowEdge::Call, UNLIKELY);
            }
        }
    }

    /// Code without control flow of its own calls by names too, and by other names than we know: aliases.
    fn connect_foreign(&mut self) {
        let foreign = std::mem::take(&mut self.foreign);
        if foreign.is_empty() {
            return;
        }
        let hub = self.add_hub();
        for (before, behind) in foreign {
            self.graph.add_edge(before, hub.0, FlowEdge::Call, UNLIKELY);
            self.graph
                .add_edge(hub.1, behind, FlowEdge::Return, UNLIKELY);
        }
        for callee in 0..self.functions.len() {
            self.connect_call(callee, hub.0, hub.1, 0);
        }
    }

    /// Two nodes: calls go through the first, returns through the second.
    fn add_hub(&mut self) -> (FlowNode, FlowNode) {
        let number = self.graph.len() as u32;
        self.graph.sources.extend([Vec::new(), Vec::new()]);
        (FlowNode(number), FlowNode(number + 1))
    }
}
