//! Structs and arrays in registers: a label for each scalar in them.

use crate::llvm::Type;

/// Aggregates with more scalars than this are concrete.
const MOST_LEAVES: usize = 16;

/// How many labels a value of this type has: 1 for an integer or pointer, one a scalar for a
/// small aggregate (floats in it count, and are always concrete), 0 for all others.
pub fn label_count(ty: Type) -> usize {
    let count = leaves(ty);
    if count > MOST_LEAVES { 0 } else { count }
}

/// Whether a value of this type can carry a label.
pub fn can_carry(ty: Type) -> bool {
    label_count(ty) > 0
}

fn leaves(ty: Type) -> usize {
    if ty.scalar_width().is_some() {
        1
    } else if ty.is_struct() {
        ty.fields().into_iter().map(leaves_or_one).sum()
    } else if ty.is_array() && ty.array_length() <= MOST_LEAVES as u64 {
        leaves_or_one(ty.element()) * ty.array_length() as usize
    } else if ty.is_array() {
        MOST_LEAVES + 1
    } else {
        0
    }
}

/// Floats and vectors inside an aggregate keep their place in the list of leaves.
fn leaves_or_one(ty: Type) -> usize {
    leaves(ty).max(1)
}

/// Which leaves the sub-value at `indices` has: the first, and how many.
pub fn locate(mut ty: Type, indices: &[u32]) -> (usize, usize) {
    let mut first = 0;
    for &index in indices {
        if ty.is_struct() {
            let fields = ty.fields();
            first += fields[..index as usize]
                .iter()
                .map(|field| leaves_or_one(*field))
                .sum::<usize>();
            ty = fields[index as usize];
        } else {
            ty = ty.element();
            first += leaves_or_one(ty) * index as usize;
        }
    }
    (first, leaves_or_one(ty))
}
