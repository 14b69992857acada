//! Bytes of the staging, and of rows of results, as values of C.

use std::borrow::Cow;

use nearmiss_results::{Block as ShownBlock, Value};

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

/// What new memory is filled with while it is watched.
const NEW: u8 = 0xbe;

/// Makes values of images. Blocks get their numbers in the order in which they are met.
pub(crate) struct Decoder<'a> {
    pub plan: &'a Plan,
    staging: Cow<'a, [u8]>,
    /// What was there afterwards, if that is wanted.
    pub after: Option<rows::Rows<'a>>,
    /// The blocks of the plan that were met.
    pub met: Vec<usize>,
    /// Memory that the function made: it is shown behind the blocks of the plan.
    pub made: Vec<rows::Made<'a>>,
    /// Whether what is shown is new memory, in which not everything need be written.
    pub is_new: bool,
    /// How many elements the array of no length has that is met next.
    pub tail: u64,
}

impl<'a> Decoder<'a> {
    pub fn new(plan: &'a Plan, staging: &'a [u8]) -> Decoder<'a> {
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
            is_new: false,
            tail: 0,
        }
    }

    pub fn row(&self, name: &str) -> Option<Vec<u8>> {
        self.after.as_ref()?.get(name).map(<[u8]>::to_vec)
    }

    /// The blocks that were met and are not shown yet, and those that they lead to.
    pub fn blocks(&mut self) -> Vec<ShownBlock> {
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
            Count::Text => self.plan.elements(block, &self.staging) + 1,
            _ => {
                let tail = block.tail.as_ref().map_or(0, |tail| tail.size);
                let elements = self.plan.elements(block, &self.staging) * block.size;
                elements + tail * self.plan.tail(block, &self.staging)
            }
        }
    }

    /// What a block was given.
    fn content(&mut self, block: &Block) -> Value {
        let count = self.plan.elements(block, &self.staging);
        if let Count::Text = block.count {
            let text = &self.staging[block.at..block.at + count as usize];
            return Value::Text(text.to_vec());
        }
        if block.tail.is_some() {
            let bytes = self.staging[block.at..][..self.bytes_of(block) as usize].to_vec();
            self.tail = self.plan.tail(block, &self.staging);
            return Value::Array(vec![self.value(block.element, &bytes, Some(block.at))]);
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
        if block.tail.is_some() {
            self.tail = self.plan.tail(block, &self.staging);
            return Value::Array(vec![self.value(block.element, bytes, None)]);
        }
        self.array(block.element, bytes)
    }

    /// Elements that the program left.
    pub fn array(&mut self, element: TypeId, bytes: &[u8]) -> Value {
        let size = (self.plan.types.size(element) as usize).max(1);
        let pieces = bytes.chunks_exact(size);
        Value::Array(
            pieces
                .map(|piece| self.value(element, piece, None))
                .collect(),
        )
    }

    /// A value as the staging has it.
    pub fn image(&mut self, of: TypeId, at: usize) -> Value {
        let size = self.plan.types.size(of) as usize;
        let bytes = self.staging[at..at + size].to_vec();
        self.value(of, &bytes, Some(at))
    }

    /// A value of these bytes; `at` is where they are in the staging, if there.
    pub fn value(&mut self, of: TypeId, bytes: &[u8], at: Option<usize>) -> Value {
        let types = &self.plan.types;
        if self.is_new && types.is_scalar(of) && bytes.iter().all(|byte| *byte == NEW) {
            return Value::Unset;
        }
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
            Kind::Array(element, count) => {
                let size = types.size(*element) as usize;
                let count = match count {
                    None | Some(0) => std::mem::take(&mut self.tail),
                    Some(count) => *count,
                };
                let pieces = bytes.chunks_exact(size.max(1)).enumerate();
                let pieces = pieces.take(count as usize);
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
            let end = match types.kind(member.of) {
                Kind::Array(_, None | Some(0)) => bytes.len(),
                _ if types.tail(member.of).is_some() => bytes.len(),
                _ => start + types.size(member.of) as usize,
            };
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
            Some(_) => Value::Elsewhere,
            None => self.pointed_to_made(address),
        }
    }

    fn pointer_to(&mut self, number: usize, index: u64) -> Value {
        let known = self.met.iter().position(|met| *met == number);
        if known.is_none() && self.after.is_some() {
            // What could not be reached before has no number, and those of what was made are behind.
            return Value::Elsewhere;
        }
        let block = known.unwrap_or_else(|| {
            self.met.push(number);
            self.met.len() - 1
        });
        Value::Pointer { block, index }
    }
}

fn number(value: i128, constants: &[(String, i128)]) -> Value {
    let name = constants.iter().find(|(_, constant)| *constant == value);
    Value::Integer {
        value,
        name: name.map(|(name, _)| name.clone()),
    }
}
