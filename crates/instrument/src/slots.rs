//! Where labels live between regions: stack slots, and the bit that says they are in use.

use rustc_hash::FxHashMap;

use crate::aggregate;
use crate::context::Context;
use crate::llvm::{Opcode, Value};
use crate::may::MayBeLabelled;
use crate::regions::Region;

/// The label slots of one function.
#[derive(Debug)]
pub struct Slots {
    first_of: FxHashMap<Value, usize>,
    count: usize,
    /// `[count x i32]`, initialised when the first label is seen.
    room: Option<Value>,
    /// `i1`, promoted to registers by the passes that follow.
    live: Value,
}

impl Slots {
    /// Gives slots to every value whose label is used outside its region.
    pub fn assign(context: &Context, function: Value, regions: &[Region], may: &MayBeLabelled) -> Slots {
        let region_of = region_numbers(regions);
        let mut slots = Slots { first_of: FxHashMap::default(), count: 0, room: None, live: make_live(context) };
        let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
        for value in function.parameters().into_iter().chain(instructions) {
            if may.contains(value) && outlives_region(value, &region_of) {
                slots.first_of.insert(value, slots.count);
                slots.count += aggregate::label_count(value.ty());
            }
        }
        if slots.count > 0 {
            let word = context.builder.integer_type(32);
            slots.room = Some(context.builder.alloca(word.array(slots.count as u64)));
        }
        slots
    }

    /// The first slot of a value, if it has any.
    pub fn of(&self, value: Value) -> Option<usize> {
        self.first_of.get(&value).copied()
    }

    fn address(&self, context: &Context, slot: usize) -> Value {
        let room = self.room.expect("there are slots");
        context.builder.offset(room, context.builder.u64(4 * slot as u64))
    }

    /// Reads a slot.
    pub fn load(&self, context: &Context, slot: usize) -> Value {
        context.builder.load(context.builder.integer_type(32), self.address(context, slot))
    }

    /// Writes a slot.
    pub fn store(&self, context: &Context, slot: usize, label: Value) {
        context.builder.store(label, self.address(context, slot));
    }

    /// Zeroes the slots: this activation sees its first label.
    pub fn begin(&self, context: &Context) {
        if let Some(room) = self.room {
            let address = context.builder.unsigned(room, 64);
            context.hook("begin", &[address, context.builder.u32(self.count as u32)]);
        }
    }

    /// Whether this activation has seen a label.
    pub fn load_live(&self, context: &Context) -> Value {
        context.builder.load(context.builder.integer_type(1), self.live)
    }

    /// Remembers whether this activation has seen a label.
    pub fn store_live(&self, context: &Context, live: Value) {
        context.builder.store(live, self.live);
    }
}

fn make_live(context: &Context) -> Value {
    let bit = context.builder.integer_type(1);
    let live = context.builder.alloca(bit);
    context.builder.store(context.builder.integer(1, 0), live);
    live
}

/// The region of each instruction; a region's end counts as part of it.
fn region_numbers(regions: &[Region]) -> FxHashMap<Value, usize> {
    let mut numbers = FxHashMap::default();
    for (number, region) in regions.iter().enumerate() {
        numbers.extend(region.instructions.iter().map(|instruction| (*instruction, number)));
        // A call that ends a region also starts the next, where its result is made.
        numbers.entry(region.end).or_insert(number);
    }
    numbers
}

fn outlives_region(value: Value, region_of: &FxHashMap<Value, usize>) -> bool {
    let is_phi = value.is_instruction() && value.opcode() == Opcode::LLVMPHI;
    let home = region_of.get(&value);
    is_phi || value.users().into_iter().any(|user| is_outside(user, home, region_of))
}

fn is_outside(user: Value, home: Option<&usize>, region_of: &FxHashMap<Value, usize>) -> bool {
    let is_phi = user.is_instruction() && user.opcode() == Opcode::LLVMPHI;
    is_phi || home.is_none() || region_of.get(&user) != home
}
