//! Bytes of the staging, and rows of results, as values of C.

use std::borrow::Cow;

use nearmiss_results::{Block as ShownBlock, Memory, Role, Value, Variable};

use crate::model::{Block, Count, Target};
use crate::plan::Plan;
use crate::rows;
use crate::types::{Kind, Member, TypeId};

/// An integer of little-endian bytes; for a bit-field its first bit and how many.
pub(crate) fn integer(bytes: &[u8], signed: bool, bits: Option<(u32, u32)>) -> i128 {
    let mut all = [0; 16];
    let size = bytes.len().min(16);
    all[..size].copy_from_slice(&bytes[..size]);
    let (first, width) = bits.unwrap_or((0, size as u32 * 8));
    let width = width.clamp(1, 128);
    let top = u128::from_le_bytes(all) >> first << (128 - width);
    if signed {
        top as i128 >> (128 - width)
    } else {
        (top >> (128 - width)) as i128
    }
}

/// Makes values of images. Blocks get their numbers in the order in which they are met.
struct Decoder<'a> {
    plan: &'a Plan,
    staging: Cow<'a, [u8]>,
    /// What was there afterwards, if that is wanted.
    after: Option<rows::Rows<'a>>,
    /// The blocks of the plan that were met.
    met: Vec<usize>,
    /// Memory that the function made.
    made: Vec<ShownBlock>,
}

impl Plan {
    /// What a staging means.
    pub fn decode(&self, staging: &[u8]) -> Memory {
        let mut decoder = Decoder::new(self, staging);
        let variables = self
            .layout
            .roots
            .iter()
            .filter(|root| root.role != Role::Stub);
        let mut variables: Vec<Variable> = variables
            .map(|root| Variable {
                name: root.name.clone(),
                role: root.role,
                ctype: self.types.spell(root.of),
                value: decoder.image(root.of, root.at),
            })
            .collect();
        for stub in &self.layout.stubs {
            let root = stub.root.map(|root| &self.layout.roots[root]);
            let size = root.map_or(0, |root| self.types.size(root.of) as usize);
            let results = root.map_or(Vec::new(), |root| {
                let calls = 0..root.elements as usize;
                calls
                    .map(|call| decoder.image(root.of, root.at + call * size))
                    .collect()
            });
            variables.push(Variable {
                name: stub.name(),
                role: Role::Stub,
                ctype: self.types.spell(stub.of),
                value: Value::Array(results),
            });
        }
        let blocks = decoder.blocks();
        Memory { variables, blocks }
    }

    /// What was there afterwards: `rows` are the results of a run on this staging.
    pub fn decode_results(&self, staging: &[u8], rows: &[(String, Vec<u8>)]) -> Memory {
        // Blocks keep the numbers that they have in what the function was given.
        let mut before = Decoder::new(self, staging);
        for root in &self.layout.roots {
            let size = self.types.size(root.of) as usize;
            for element in 0..root.elements as usize {
                before.image(root.of, root.at + element * size);
            }
        }
        before.blocks();
        let mut decoder = Decoder {
            met: before.met,
            after: Some(rows::Rows::new(rows)),
            ..Decoder::new(self, staging)
        };
        let variables = decoder.variables_after();
        let mut blocks = decoder.blocks();
        blocks.append(&mut decoder.made);
        Memory { variables, blocks }
    }
}

impl<'a> Decoder<'a> {
    fn new(plan: &'a Plan, staging: &'a [u8]) -> Decoder<'a> {
        let mut staging = Cow::Borrowed(staging);
        if staging.len() < plan.layout.size {
            staging.to_mut().resize(plan.layout.size, 0);
        }
        Decoder {
            plan,
            staging,
            after: None,
            met: Vec::new(),
            made: Vec::new(),
        }
    }

    fn variables_after(&mut self) -> Vec<Variable> {
        let plan = self.plan;
        let mut variables = Vec::new();
        for (number, root) in plan.layout.roots.iter().enumerate() {
            let row = self.row(&rows::global(number));
            let value = match (root.role, row) {
                (Role::Stub, _) => continue,
                (Role::Global, Some(bytes)) => self.value(root.of, &bytes, None),
                _ => self.image(root.of, root.at),
            };
            variables.push(Variable {
                name: root.name.clone(),
                role: root.role,
                ctype: plan.types.spell(root.of),
                value,
            });
        }
        let result = plan.function.function.signature.result;
        if let Some(bytes) = self.row(rows::RESULT) {
            variables.push(Variable {
                name: "result".into(),
                role: Role::Result,
                ctype: plan.types.spell(result),
                value: self.result(result, &bytes),
            });
        }
        variables
    }

    /// What the function gave back; if it points to memory of its own, with that memory.
    fn result(&mut self, of: TypeId, bytes: &[u8]) -> Value {
        let value = self.value(of, bytes, None);
        let (Value::Elsewhere, Kind::Pointer(target)) = (&value, self.plan.types.kind(of)) else {
            return value;
        };
        let Some(content) = self.row(rows::RESULT_TARGET) else {
            return value;
        };
        let types = &self.plan.types;
        let content = if types.is_char(*target) {
            Value::Text(content)
        } else {
            Value::Array(vec![self.value(*target, &content, None)])
        };
        self.made.push(ShownBlock {
            name: "result".into(),
            element: types.spell(*target),
            constant: types.is_qualified(*target, "const"),
            freed: false,
            content,
        });
        Value::Pointer {
            block: self.met.len() + self.made.len() - 1,
            index: 0,
        }
    }

    fn row(&self, name: &str) -> Option<Vec<u8>> {
        self.after.as_ref()?.get(name).map(<[u8]>::to_vec)
    }

    /// The blocks that were met and are not shown yet, and those that they lead to.
    fn blocks(&mut self) -> Vec<ShownBlock> {
        let mut shown = Vec::new();
        while let Some(number) = self.met.get(shown.len()).copied() {
            shown.push(self.block(number));
        }
        shown
    }

    fn block(&mut self, number: usize) -> ShownBlock {
        let block = &self.plan.layout.blocks[number];
        let row = self.row(&rows::block(number));
        let freed = row.as_ref().is_some_and(Vec::is_empty) && self.bytes_of(block) > 0;
        let content = match row {
            Some(bytes) if !freed => self.elements(block, &bytes),
            _ => self.content(block),
        };
        ShownBlock {
            name: block.path.to_string(),
            element: self.plan.types.spell(block.element),
            constant: block.constant,
            freed,
            content,
        }
    }

    /// Bytes that the harness made for a block.
    fn bytes_of(&self, block: &Block) -> u64 {
        match block.count {
            Count::Text => self.plan.count(block, &self.staging) + 1,
            _ => self.plan.count(block, &self.staging) * block.size,
        }
    }

    /// What a block was given.
    fn content(&mut self, block: &Block) -> Value {
        let count = self.plan.count(block, &self.staging);
        if let Count::Text = block.count {
            let text = &self.staging[block.at..block.at + count as usize];
            return Value::Text(text.to_vec());
        }
        let places = (0..count).map(|index| block.at + (index * block.size) as usize);
        Value::Array(places.map(|at| self.image(block.element, at)).collect())
    }

    /// What a block has become.
    fn elements(&mut self, block: &Block, bytes: &[u8]) -> Value {
        if let (Count::Text, Some(end)) = (&block.count, bytes.iter().position(|b| *b == 0))
            && bytes.len() == end + 1
        {
            return Value::Text(bytes[..end].to_vec());
        }
        let pieces = bytes.chunks_exact((block.size as usize).max(1));
        Value::Array(
            pieces
                .map(|piece| self.value(block.element, piece, None))
                .collect(),
        )
    }

    /// A value as the staging has it.
    fn image(&mut self, of: TypeId, at: usize) -> Value {
        let size = self.plan.types.size(of) as usize;
        let bytes = self.staging[at..at + size].to_vec();
        self.value(of, &bytes, Some(at))
    }

    /// A value of these bytes; `at` is where they are in the staging, if there.
    fn value(&mut self, of: TypeId, bytes: &[u8], at: Option<usize>) -> Value {
        let types = &self.plan.types;
        match types.kind(of) {
            Kind::Integer(kind) => number(integer(bytes, kind.signed, None), &[]),
            Kind::Enumeration(kind, constants) => {
                number(integer(bytes, kind.signed, None), constants)
            }
            Kind::Float if bytes.len() == 4 || bytes.len() == 8 => Value::Float {
                size: bytes.len() as u8,
                bits: integer(bytes, false, None) as u64,
            },
            Kind::Pointer(_) => match at {
                Some(at) => self.chosen(at),
                None => self.pointed(integer(bytes, false, None) as u64),
            },
            Kind::Array(element, _) => {
                let size = types.size(*element) as usize;
                let pieces = bytes.chunks_exact(size.max(1)).enumerate();
                let values = pieces.map(|(index, piece)| {
                    self.value(*element, piece, at.map(|at| at + index * size))
                });
                Value::Array(values.collect())
            }
            Kind::Record(record) => {
                let members = types.chosen(record).iter();
                let values =
                    members.map(|member| (member.name.clone(), self.member(member, bytes, at)));
                Value::Structure(values.collect())
            }
            _ => Value::Bytes(bytes.to_vec()),
        }
    }

    fn member(&mut self, member: &Member, bytes: &[u8], at: Option<usize>) -> Value {
        let types = &self.plan.types;
        let start = member.offset as usize;
        let Some((first, width)) = member.bits else {
            let end = start + types.size(member.of) as usize;
            let bytes = bytes.get(start..end).unwrap_or_default();
            return self.value(member.of, bytes, at.map(|at| at + start));
        };
        let end = start + (first + width).div_ceil(8) as usize;
        let bytes = bytes.get(start..end).unwrap_or_default();
        match types.kind(member.of) {
            Kind::Enumeration(kind, constants) => {
                number(integer(bytes, kind.signed, member.bits), constants)
            }
            Kind::Integer(kind) => number(integer(bytes, kind.signed, member.bits), &[]),
            _ => Value::Bytes(bytes.to_vec()),
        }
    }

    /// What a pointer in the staging chooses.
    fn chosen(&mut self, at: usize) -> Value {
        let layout = &self.plan.layout;
        let Some(pointer) = layout.pointers.iter().find(|pointer| pointer.at == at) else {
            return Value::Null;
        };
        let choice = usize::from(self.staging[at]);
        let choice = if pointer.targets.len() < 2 { 0 } else { choice };
        match pointer.targets.get(choice) {
            Some(Target::Block(number)) => self.pointer_to(*number, 0),
            Some(Target::Stub(number)) => Value::Function(layout.stubs[*number].name()),
            Some(Target::Null) | None => Value::Null,
        }
    }

    /// What a pointer of the program points to.
    fn pointed(&mut self, address: u64) -> Value {
        if address == 0 {
            return Value::Null;
        }
        let Some(after) = &self.after else {
            return Value::Elsewhere;
        };
        if let Some(stub) = after.stub_at(address) {
            return Value::Function(self.plan.layout.stubs[stub].name());
        }
        let blocks = self.plan.layout.blocks.iter().enumerate();
        let places = blocks.filter_map(|(number, block)| {
            let offset = address.checked_sub(after.block_address(number)?)?;
            (offset <= self.bytes_of(block)).then_some((number, offset, self.bytes_of(block)))
        });
        // The end of one block may be the start of another.
        let inside = places.min_by_key(|(_, offset, size)| offset == size);
        match inside {
            Some((number, offset, _))
                if offset % self.plan.layout.blocks[number].size.max(1) == 0 =>
            {
                let index = offset / self.plan.layout.blocks[number].size.max(1);
                self.pointer_to(number, index)
            }
            _ => Value::Elsewhere,
        }
    }

    fn pointer_to(&mut self, number: usize, index: u64) -> Value {
        let known = self.met.iter().position(|met| *met == number);
        let block = known.unwrap_or_else(|| {
            self.met.push(number);
            self.met.len() - 1
        });
        Value::Pointer { block, index }
    }
}

impl Plan {
    /// How many elements a block has in a staging; for a string how many bytes before its zero.
    pub(crate) fn count(&self, block: &Block, staging: &[u8]) -> u64 {
        let leaves = &self.layout.leaves;
        let count = match &block.count {
            Count::Fixed(count) => *count,
            Count::Own(leaf) => leaves[*leaf].read(staging) as u64,
            Count::Tied(formula) => {
                let value = formula.value(&|leaf| leaves[*leaf].read(staging));
                u64::try_from(value).unwrap_or(0)
            }
            Count::Text => {
                let text = &staging[block.at..block.at + block.most as usize];
                text.iter().take_while(|byte| **byte != 0).count() as u64
            }
        };
        count.min(block.most)
    }
}

fn number(value: i128, constants: &[(String, i128)]) -> Value {
    let name = constants.iter().find(|(_, constant)| *constant == value);
    Value::Integer {
        value,
        name: name.map(|(name, _)| name.clone()),
    }
}
