//! Valuations: values for all variables of an environment, chosen at random so that they often agree.

use nearmiss_contracts::Attribute;
use nearmiss_solve::Model;

use crate::condition::bytes;
use crate::environment::{Block, Environment, Home, Quantity};
use crate::random::Random;

/// One value for each variable.
pub type Valuation = Vec<i64>;

/// A consistent valuation, chosen directly.
pub fn random(environment: &Environment, random: &mut Random) -> Valuation {
    let mut values = vec![0; environment.quantities.len()];
    let mut used: Vec<i64> = Vec::new();
    // Small ranges make ties, large ones make sums that fit.
    let share = random.between(1, 4);
    for (index, block) in environment.blocks.iter().enumerate() {
        let is_there = |home: Home, values: &[i64]| match home {
            Home::Member(parent, _) => values[environment.blocks[parent].bounds] > 0,
            Home::Parameter(_) => true,
        };
        if !is_there(block.home, &values) || random.once_in(8) {
            continue;
        }
        // What is said of one of two pointers to the same block only is not copied from the other.
        let is_alike = |other: &Block| other.finds.len() == block.finds.len();
        let free = |earlier: &usize| {
            let other = &environment.blocks[*earlier];
            values[other.address] == *earlier as i64 + 1 && is_alike(other)
        };
        let aliases: Vec<usize> = block.aliases.iter().copied().filter(free).collect();
        if !aliases.is_empty() && random.once_in(4) {
            let first = *random.choose(&aliases);
            let pairs = environment.attributes(block);
            let from = environment.attributes(&environment.blocks[first]);
            for (to, from) in pairs.into_iter().zip(from) {
                values[to] = values[from];
            }
            values[block.address] = first as i64 + 1;
            continue;
        }
        values[block.address] = index as i64 + 1;
        for variable in environment.attributes(block) {
            let quantity = &environment.quantities[variable];
            values[variable] = attribute(quantity, values[block.bounds], share, &used, random);
            used.push(values[variable]);
        }
        settle(environment, index, &mut values);
    }
    for number in &environment.numbers {
        let there = match number.home {
            Home::Member(parent, _) => values[environment.blocks[parent].bounds] > 0,
            Home::Parameter(_) => true,
        };
        if there {
            let quantity = &environment.quantities[number.variable];
            values[number.variable] = value(quantity, share, &used, random);
            used.push(values[number.variable]);
        }
    }
    values
}

fn attribute(
    quantity: &Quantity,
    bounds: i64,
    share: i64,
    used: &[i64],
    random: &mut Random,
) -> i64 {
    match quantity.term.attribute {
        Attribute::Find(_) if random.once_in(3) => bounds,
        Attribute::Find(_) => value(quantity, share, used, random).min(bounds),
        _ => value(quantity, share, used, random),
    }
}

/// A value that is allowed: one that was used already, one beside it, or any.
fn value(quantity: &Quantity, share: i64, used: &[i64], random: &mut Random) -> i64 {
    let (low, high) = quantity.range;
    if !quantity.others.is_empty() && random.once_in(6) {
        return *random.choose(&quantity.others);
    }
    let near = if used.is_empty() || random.once_in(2) {
        random.between(low, low + (high - low) * share / 4)
    } else {
        let sum = if random.once_in(4) {
            *random.choose(used)
        } else {
            0
        };
        random.choose(used) + sum + random.between(-1, 1)
    };
    near.clamp(low, high)
}

/// Makes the attributes of a block agree with each other.
fn settle(environment: &Environment, index: usize, values: &mut [i64]) {
    let block = &environment.blocks[index];
    let bounds = values[block.bounds];
    for position in 0..block.finds.len() {
        let find = block.finds[position].1;
        values[find] = values[find].min(bounds);
        let taken = |at: i64, values: &[i64]| {
            let earlier = &block.finds[..position];
            earlier.iter().any(|(_, other)| values[*other] == at)
        };
        if taken(values[find], values) {
            values[find] = bounds;
        }
    }
    if let Some((least, greatest)) = block.range {
        if bounds == 0 {
            (values[least], values[greatest]) = (0, 0);
        } else if bounds == 1 {
            values[greatest] = values[least];
        } else if values[least] > values[greatest] {
            values.swap(least, greatest);
        }
    }
}

/// What a model of the solver says.
pub fn of_model(environment: &Environment, model: &Model) -> Valuation {
    let value = |variable: usize| {
        let bytes = bytes(variable).enumerate();
        let whole = bytes.fold(0u32, |whole, (place, byte)| {
            whole | u32::from(model.get(byte).unwrap_or(0)) << (8 * place)
        });
        i64::from(whole as i32)
    };
    (0..environment.quantities.len()).map(value).collect()
}

/// Whether the environment can be made.
pub fn is_consistent(environment: &Environment, values: &[i64]) -> bool {
    environment
        .consistency
        .iter()
        .all(|rule| rule.holds(values))
}
