//! Execution for all inputs at once.

use std::collections::{BTreeMap, HashMap};

use nearmiss_abi::op::Op;
use nearmiss_expr::{Ranges, TermId, Terms};
use nearmiss_sites::program::{Action, Block, End, Function, Operand};

use crate::choices;
use crate::flow::{Flow, Position};
use crate::memory::{self, Memory, ObjectId};
use crate::state::{self, State};
use crate::{GaveUp, Judge, Request};

/// Registers of a function in one call of it.
pub type Registers = Vec<Option<TermId>>;

/// Executes a harness.
pub struct Machine<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) terms: &'a mut Terms,
    judge: &'a mut dyn Judge,
    functions: HashMap<&'a str, (&'a Function, Flow)>,
    /// What inputs can be, by what the harness assumes.
    pub(crate) ranges: Ranges,
    /// Of each object the term of its size in bytes, where that depends on inputs.
    pub(crate) sizes: Vec<Option<TermId>>,
    /// Whether the harness is making the inputs.
    pub(crate) is_setup: bool,
    /// The conditions under which an input was accepted.
    pub(crate) accepted: Vec<TermId>,
    steps: u64,
    depth: u32,
}

/// One that waits for its turn at a block.
struct Waiting {
    block: u32,
    state: State,
    registers: Registers,
}

/// How much is executed at most.
const MOST_STEPS: u64 = 300_000;
const MOST_TERMS: usize = 2_000_000;
/// How deep calls may go.
const MOST_CALLS: u32 = 64;
/// How often a loop begins anew before somebody is asked whether anyone is still in it, each time.
const ROUNDS_BEFORE_DOUBT: u32 = 3;

impl<'a> Machine<'a> {
    /// Nothing was executed.
    pub fn new(
        request: &'a Request<'a>,
        terms: &'a mut Terms,
        judge: &'a mut dyn Judge,
    ) -> Machine<'a> {
        let functions = request.program.functions.iter();
        Machine {
            request,
            terms,
            judge,
            functions: functions
                .map(|function| (function.name.as_str(), (function, Flow::of(function))))
                .collect(),
            ranges: Ranges::new(),
            sizes: vec![None; request.program.variables.len()],
            is_setup: true,
            accepted: Vec::new(),
            steps: 0,
            depth: 0,
        }
    }

    /// The conditions under which the precondition accepts.
    pub fn acceptance(mut self) -> Result<Vec<TermId>, GaveUp> {
        let state = State {
            guard: Vec::new(),
            memory: Memory::default(),
        };
        self.call("main", Vec::new(), state)?;
        let never = self.terms.truth(false);
        let accepted = std::mem::take(&mut self.accepted).into_iter();
        let any = accepted.fold(never, |any, one| self.terms.or(any, one));
        Ok(state::conjuncts(self.terms, any))
    }

    /// Calls a function; `None` if no input comes back from it.
    pub(crate) fn call(
        &mut self,
        name: &str,
        arguments: Vec<TermId>,
        state: State,
    ) -> Result<Option<(State, Option<TermId>)>, GaveUp> {
        let Some((name, _)) = self.functions.get_key_value(name) else {
            return self.call_word(name, &arguments, state);
        };
        let name: &'a str = name;
        self.depth += 1;
        if self.depth > MOST_CALLS {
            return Err(GaveUp::TooLong);
        }
        let came_back = self.execute(name, arguments, state)?;
        self.depth -= 1;
        Ok(came_back)
    }

    fn execute(
        &mut self,
        name: &'a str,
        arguments: Vec<TermId>,
        state: State,
    ) -> Result<Option<(State, Option<TermId>)>, GaveUp> {
        let function = self.functions[name].0;
        let mut registers: Registers = arguments.into_iter().map(Some).collect();
        registers.resize(function.registers as usize, None);
        let mut waiting: BTreeMap<Position, Waiting> = BTreeMap::new();
        let first = Waiting {
            block: 0,
            state,
            registers,
        };
        waiting.insert(self.functions[name].1.first(function), first);
        let mut returned: Option<(State, Vec<Option<TermId>>)> = None;
        while let Some((position, now)) = waiting.pop_first() {
            let block = &function.blocks[now.block as usize];
            let Some(now) = self.execute_steps(block, now)? else {
                continue;
            };
            if let End::Return(value) = &block.end {
                let value = match value {
                    Some(operand) => Some(self.operand(operand, &now.registers)?),
                    None => None,
                };
                let one = (now.state, vec![value]);
                returned = Some(match returned {
                    Some(other) => state::merge(self.terms, other, one),
                    None => one,
                });
                continue;
            }
            for (to, condition) in self.ways(block, &now.registers)? {
                let mut state = now.state.clone();
                state.require(self.terms, condition);
                let (next, is_way_back) =
                    (self.functions[name].1).next(function, (now.block, &position), to);
                let round = next.iter().map(|&(_, round)| round).max().unwrap_or(0);
                if is_way_back && round >= ROUNDS_BEFORE_DOUBT && !self.may_be_in(&state)? {
                    continue;
                }
                let registers =
                    self.arrive(&function.blocks[to as usize], now.block, &now.registers)?;
                let mut one = (state, registers);
                if let Some(other) = waiting.remove(&next) {
                    one = state::merge(self.terms, (other.state, other.registers), one);
                }
                let (state, registers) = one;
                waiting.insert(
                    next,
                    Waiting {
                        block: to,
                        state,
                        registers,
                    },
                );
            }
        }
        Ok(returned.map(|(state, values)| (state, values[0])))
    }

    fn may_be_in(&mut self, state: &State) -> Result<bool, GaveUp> {
        let said = self.judge.may_hold(self.terms, &state.guard);
        said.ok_or(GaveUp::TooLong)
    }

    /// The registers of one who comes to a block from another.
    fn arrive(
        &mut self,
        block: &Block,
        from: u32,
        before: &Registers,
    ) -> Result<Registers, GaveUp> {
        let mut registers = before.clone();
        for (register, choices) in &block.choices {
            let mut choices = choices.iter();
            let operand = choices.find(|(block, _)| *block == from);
            let (_, operand) = operand.ok_or_else(|| unknown("a way to nowhere"))?;
            // Operands that nobody uses further on may be unknown.
            registers[*register as usize] = self.operand(operand, before).ok();
        }
        Ok(registers)
    }

    /// Executes what a block does; `None` if nobody comes to its end.
    fn execute_steps(
        &mut self,
        block: &Block,
        mut now: Waiting,
    ) -> Result<Option<Waiting>, GaveUp> {
        for (register, action) in &block.steps {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.terms.len() > MOST_TERMS {
                return Err(GaveUp::TooLong);
            }
            let value = match action {
                Action::Call(name, arguments) => {
                    let arguments = arguments.iter();
                    let arguments =
                        arguments.map(|argument| self.operand(argument, &now.registers));
                    let arguments = arguments.collect::<Result<Vec<TermId>, GaveUp>>()?;
                    let Some((state, value)) = self.call(name, arguments, now.state)? else {
                        return Ok(None);
                    };
                    now.state = state;
                    value
                }
                _ => self.act(action, &mut now)?,
            };
            if now.state.is_empty(self.terms) {
                return Ok(None);
            }
            if let Some(register) = register {
                now.registers[*register as usize] = value;
            }
        }
        Ok(Some(now))
    }

    fn act(&mut self, action: &Action, now: &mut Waiting) -> Result<Option<TermId>, GaveUp> {
        Ok(Some(match action {
            Action::Binary {
                op,
                operands: [a, b],
                is_checked,
            } => {
                let op = Op::from_code(*op).ok_or_else(|| unknown("an operation"))?;
                let a = self.operand(a, &now.registers)?;
                let b = self.operand(b, &now.registers)?;
                self.require_defined(op, [a, b], *is_checked, &mut now.state);
                choices::binary(self.terms, op, a, b)
            }
            Action::Resize {
                value,
                width,
                is_signed,
            } => {
                let value = self.operand(value, &now.registers)?;
                self.resize(value, *width, *is_signed)
            }
            Action::Select(condition, then, otherwise) => {
                let condition = self.operand(condition, &now.registers)?;
                let then = self.operand(then, &now.registers)?;
                let otherwise = self.operand(otherwise, &now.registers)?;
                self.terms.ite(condition, then, otherwise)
            }
            Action::Address(base, offset, indices) => {
                let mut address = self.operand(base, &now.registers)?;
                let mut distance = self.terms.constant(64, *offset as u64 as u128);
                for (index, size) in indices {
                    let index = self.operand(index, &now.registers)?;
                    let index = self.resize(index, 64, true);
                    let size = self.terms.constant(64, u128::from(*size));
                    let bytes = self.terms.binary(Op::Mul, index, size);
                    distance = self.terms.binary(Op::Add, distance, bytes);
                }
                address = self.terms.binary(Op::Add, address, distance);
                address
            }
            Action::Local(size) => {
                let object = self.new_object(None);
                let zero = self.terms.constant(8, 0);
                let bytes = std::iter::repeat_n(zero, *size as usize);
                now.state.memory.fill(object, bytes);
                self.address_of(object)
            }
            Action::Load(address, width) => {
                let address = self.operand(address, &now.registers)?;
                let value = self.load(&mut now.state, address, *width)?;
                self.known(value)
            }
            Action::Store(value, address) => {
                let value = self.operand(value, &now.registers)?;
                let address = self.operand(address, &now.registers)?;
                self.store(&mut now.state, address, value)?;
                return Ok(None);
            }
            Action::Nothing => return Ok(None),
            Action::Unknown | Action::Call(..) => return Err(unknown("an instruction")),
        }))
    }

    /// Who does what C leaves undefined does not come further.
    fn require_defined(
        &mut self,
        op: Op,
        [a, b]: [TermId; 2],
        is_checked: bool,
        state: &mut State,
    ) {
        let width = self.terms.width(b);
        let mut fails = Vec::new();
        match op {
            Op::UDiv | Op::SDiv | Op::URem | Op::SRem => {
                let zero = self.terms.constant(width, 0);
                fails.push(self.terms.eq(b, zero));
            }
            Op::Shl | Op::LShr | Op::AShr => {
                let most = self.terms.constant(width, (width - 1).into());
                fails.push(self.terms.binary(Op::Ult, most, b));
            }
            _ => {}
        }
        match op {
            Op::SDiv | Op::SRem => {
                let least = self.terms.constant(width, 1 << (width - 1));
                let minus_one = self.terms.constant(width, u128::MAX >> (128 - width));
                let is_least = self.terms.eq(a, least);
                let is_minus_one = self.terms.eq(b, minus_one);
                fails.push(self.terms.and(is_least, is_minus_one));
            }
            Op::Add if is_checked => fails.push(self.terms.binary(Op::SAddOverflow, a, b)),
            Op::Sub if is_checked => fails.push(self.terms.binary(Op::SSubOverflow, a, b)),
            Op::Mul if is_checked => fails.push(self.terms.binary(Op::SMulOverflow, a, b)),
            _ => {}
        }
        for fails in fails {
            let fails = self.known(fails);
            let is_fine = self.terms.not(fails);
            state.require(self.terms, is_fine);
        }
    }

    pub(crate) fn resize(&mut self, value: TermId, width: u32, is_signed: bool) -> TermId {
        match (self.terms.width(value).cmp(&width), is_signed) {
            (std::cmp::Ordering::Greater, _) => self.terms.truncate(value, width),
            (std::cmp::Ordering::Equal, _) => value,
            (std::cmp::Ordering::Less, true) => self.terms.sext(value, width),
            (std::cmp::Ordering::Less, false) => self.terms.zext(value, width),
        }
    }

    /// Where a block leads, and when.
    fn ways(&mut self, block: &Block, registers: &Registers) -> Result<Vec<(u32, TermId)>, GaveUp> {
        let truth = self.terms.truth(true);
        let ways = match &block.end {
            End::Go(to) => vec![(*to, truth)],
            End::Branch(condition, then, otherwise) => {
                let condition = self.operand(condition, registers)?;
                let condition = self.known(condition);
                let opposite = self.terms.not(condition);
                vec![(*then, condition), (*otherwise, opposite)]
            }
            End::Switch(number, cases, otherwise) => {
                let number = self.operand(number, registers)?;
                let width = self.terms.width(number);
                let mut ways = Vec::new();
                let mut none = truth;
                for (value, to) in cases {
                    let value = self.terms.constant(width, u128::from(*value));
                    let is_this = choices::binary(self.terms, Op::Eq, number, value);
                    let is_not = self.terms.not(is_this);
                    none = self.terms.and(none, is_not);
                    match ways.iter_mut().find(|(other, _)| other == to) {
                        Some((_, when)) => *when = self.terms.or(*when, is_this),
                        None => ways.push((*to, is_this)),
                    }
                }
                match ways.iter_mut().find(|(other, _)| other == otherwise) {
                    Some((_, when)) => *when = self.terms.or(*when, none),
                    None => ways.push((*otherwise, none)),
                }
                ways
            }
            End::Unreachable => Vec::new(),
            End::Return(_) | End::Unknown => return Err(unknown("a jump")),
        };
        let is_open =
            |(_, condition): &(u32, TermId)| self.terms.as_constant(*condition) != Some(0);
        Ok(ways.into_iter().filter(is_open).collect())
    }

    /// A value, or the constant that it is for all inputs that the harness makes.
    pub(crate) fn known(&mut self, value: TermId) -> TermId {
        let range = self.ranges.range(self.terms, value);
        match range.low == range.high {
            true => self.terms.constant(range.width, range.low),
            false => value,
        }
    }

    fn operand(&mut self, operand: &Operand, registers: &Registers) -> Result<TermId, GaveUp> {
        match operand {
            Operand::Register(register) => {
                registers[*register as usize].ok_or_else(|| unknown("a value"))
            }
            Operand::Constant(width, value) => Ok(self.terms.constant(*width, u128::from(*value))),
            Operand::Undefined(width) => Ok(self.terms.constant(*width, 0)),
            Operand::Variable(number, offset) => {
                let address = memory::address_of(*number).wrapping_add_signed(*offset);
                Ok(self.terms.constant(64, u128::from(address)))
            }
            Operand::Unknown => Err(unknown("a constant")),
        }
    }

    /// An object whose content is yet to be given.
    pub(crate) fn new_object(&mut self, size: Option<TermId>) -> ObjectId {
        self.sizes.push(size);
        self.sizes.len() as ObjectId - 1
    }

    pub(crate) fn address_of(&mut self, object: ObjectId) -> TermId {
        let address = memory::address_of(object);
        self.terms.constant(64, u128::from(address))
    }

    /// Variables get their content when somebody comes to them.
    pub(crate) fn prepare(&mut self, state: &mut State, object: ObjectId) -> Result<(), GaveUp> {
        if state.memory.has(object) {
            return Ok(());
        }
        let program = self.request.program;
        let variable = program.variables.get(object as usize);
        let variable = variable.ok_or_else(|| unknown("an object"))?;
        let content = variable.content.as_ref();
        let content = content.ok_or_else(|| unknown("a variable of another file"))?;
        let bytes: Vec<TermId> = (content.iter())
            .map(|&byte| self.terms.constant(8, byte.into()))
            .collect();
        state.memory.fill(object, bytes.into_iter());
        for (offset, operand) in &variable.addresses {
            let address = self.operand(operand, &Vec::new())?;
            state.memory.store(self.terms, object, *offset, address);
        }
        Ok(())
    }
}

/// Why there is no term.
pub fn unknown(what: &str) -> GaveUp {
    GaveUp::Unknown(what.to_string())
}
