//! The function of the white box: C whose parameters are the sizes, numbers and bytes of one call. It lays the call out
//! in memory, and makes it if a condition lets it through. Exploring all of its paths decides that condition.
//!
//! ```text
//!  int nearmiss_white_box(uint8_t p0, uint8_t b0, uint8_t c0_0, …, int32_t n0)
//!      block 0: 0 NULL, 1 its own, k + 1 that of block k; its elements; their values; number 0
//! ```

use nearmiss_harness::Prototype;
use nearmiss_results::{Memory, Value};

use crate::condition::Condition;
use crate::environment::{Block, Environment, Home, NumberPlace};
use crate::inputs::{Given, TestCase};
use crate::stubs;
use crate::subject::Subject;
use crate::valuations::Valuation;

/// The function that is explored.
pub const NAME: &str = "nearmiss_white_box";
/// Numbers, where not all of them are explored.
pub const SMALL: (i64, i64) = (-2, 6);

/// Most elements of a block: fewer where there are many blocks.
pub fn largest(environment: &Environment) -> i64 {
    if environment.blocks.len() > 2 { 3 } else { 4 }
}

/// Which numbers are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Those of [`SMALL`].
    Small,
    /// All that the type has.
    Any,
}

/// One of these values, each a path of its own: what is behind it is no longer symbolic.
const FIX: &str = "\
static unsigned nm_fix(unsigned value, unsigned most)
{
    for (unsigned k = 0; k < most; k++)
        if (value == k)
            return k;
    return most;
}
";

/// The whole file.
pub fn write(
    subject: &Subject,
    prototype: &Prototype,
    environment: &Environment,
    admissible: &Condition,
    numbers: Numbers,
) -> String {
    let mut body = String::new();
    let (blocks, count) = (environment.blocks.len(), environment.numbers.len());
    body += &format!(
        "    __int128 v[{}] = {{0}};\n    int64_t numbers[{}] = {{0}};\n    void *pointers[{}] = {{0}};\n",
        environment.quantities.len() + 1,
        count + 1,
        blocks + 1
    );
    for (index, number) in environment.numbers.iter().enumerate() {
        body += &value(environment, index, number, numbers);
    }
    for (index, block) in environment.blocks.iter().enumerate() {
        body += &layout(environment, index, block, admissible);
    }
    for (index, number) in environment.numbers.iter().enumerate() {
        body += &member(environment, index, number);
    }
    format!(
        "{}\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n{FIX}{}\
         int {NAME}({})\n{{\n{body}    if (!{})\n        return 0;\n    nm_numbers = numbers;\n    {}({});\n    return 1;\n}}\n",
        subject.include(),
        stubs::definitions(prototype, environment),
        parameters(environment).join(", "),
        admissible.c("v"),
        prototype.function,
        stubs::arguments(prototype, environment)
    )
}

fn parameters(environment: &Environment) -> Vec<String> {
    let mut all = Vec::new();
    for (index, block) in environment.blocks.iter().enumerate() {
        all.push(format!("uint8_t p{index}"));
        all.push(format!("uint8_t b{index}"));
        if block.before.is_some() {
            all.push(format!("uint8_t w{index}"));
        }
        if let Some(bits) = element_bits(block) {
            all.extend((0..largest(environment)).map(|k| format!("uint{bits}_t c{index}_{k}")));
        }
    }
    for (index, number) in environment.numbers.iter().enumerate() {
        let sign = if number.signed { "" } else { "u" };
        all.push(format!("{sign}int{}_t n{index}", 8 * width(number)));
    }
    if all.is_empty() {
        all.push("void".into());
    }
    all
}

fn width(number: &NumberPlace) -> u64 {
    match number.bytes {
        1 | 2 | 4 => number.bytes,
        _ => 8,
    }
}

/// Bits of an element whose value is chosen; elements that lead elsewhere, and structures, are zero.
fn element_bits(block: &Block) -> Option<u64> {
    let chosen = block.of.is_char || block.of.is_void || block.of.signed.is_some();
    (chosen && [1, 2, 4, 8].contains(&block.of.size)).then_some(8 * block.of.size)
}

fn most(environment: &Environment, variable: usize) -> i64 {
    environment.quantities[variable]
        .range
        .1
        .min(largest(environment))
}

/// A number: as the function gets it, and as formulas have it.
fn value(
    environment: &Environment,
    index: usize,
    number: &NumberPlace,
    numbers: Numbers,
) -> String {
    let quantity = &environment.quantities[number.variable];
    let mut text = format!("    numbers[{index}] = (int64_t)n{index};\n");
    text += &format!("    v[{}] = n{index};\n", number.variable);
    // What the user restricts has no values beside the range.
    let (low, high) = match (quantity.others.is_empty(), numbers) {
        (true, _) => quantity.range,
        (false, Numbers::Any) => return text,
        (false, Numbers::Small) => SMALL,
    };
    let at = number.variable;
    text += &format!("    if (v[{at}] < {low} || v[{at}] > {high})\n        return 0;\n");
    text
}

/// A block, its pointer, and what formulas need to know of it.
fn layout(
    environment: &Environment,
    index: usize,
    block: &Block,
    admissible: &Condition,
) -> String {
    let (size, most) = (block.of.size, most(environment, block.bounds));
    let there = match block.home {
        Home::Parameter(_) => String::new(),
        Home::Member(parent, _) => format!(" && v[{}] > 0", environment.blocks[parent].bounds),
    };
    let mut text = format!("    if (p{index} == {}{there}) {{\n", index + 1);
    text += &format!("        v[{}] = {};\n", block.address, index + 1);
    text += &format!("        unsigned bounds = nm_fix(b{index}, {most}), before = 0;\n");
    if let Some(before) = block.before {
        let most = environment.quantities[before]
            .range
            .1
            .min(largest(environment) / 2);
        text +=
            &format!("        before = nm_fix(w{index}, {most});\n        v[{before}] = before;\n");
    }
    text += &format!("        v[{}] = bounds;\n", block.bounds);
    // Memory of no bytes is the end of some.
    text += &format!(
        "        unsigned char *start = before + bounds ? calloc(before + bounds, {size}) : (unsigned char *)calloc(1, {size}) + {size};\n"
    );
    text += &format!("        start += before * {size}ul;\n        pointers[{index}] = start;\n");
    if let Some(bits) = element_bits(block) {
        for k in 0..most {
            text += &format!(
                "        if (bounds > {k})\n            ((uint{bits}_t *)start)[{k}] = c{index}_{k};\n"
            );
        }
    }
    text += &attributes(environment, block, admissible);
    text += "    }\n";
    for alias in &block.aliases {
        text += &alias_of(environment, index, block, *alias);
    }
    // All other numbers say NULL, once.
    let mut known: Vec<String> = vec![format!("p{index} != {}", index + 1)];
    known.extend(
        block
            .aliases
            .iter()
            .map(|alias| format!("p{index} != {}", alias + 1)),
    );
    text += &format!(
        "    if (p{index} != 0 && {})\n        return 0;\n",
        known.join(" && ")
    );
    text += &format!("    if (p{index} != 0 && !pointers[{index}])\n        return 0;\n");
    if let Home::Member(parent, offset) = block.home {
        text += &format!(
            "    if (v[{}] > 0)\n        memcpy((char *)pointers[{parent}] + {offset}, &pointers[{index}], sizeof(void *));\n",
            environment.blocks[parent].bounds
        );
    }
    text
}

/// Where bytes are, and the least and the greatest element: only what the condition needs.
fn attributes(environment: &Environment, block: &Block, admissible: &Condition) -> String {
    let needed = admissible.variables();
    let mut text = String::new();
    let element = match block.of.size {
        1 => "start".to_string(),
        size => format!("((int{}_t *)start)", 8 * size),
    };
    for (byte, find) in block.finds.iter().filter(|(_, find)| needed.contains(find)) {
        text += &format!(
            "        v[{find}] = bounds;\n        for (unsigned k = 0; k < bounds; k++)\n            if ({element}[k] == {byte}) {{\n                \
             v[{find}] = k;\n                break;\n            }}\n"
        );
    }
    let Some((least, greatest)) = block.range else {
        return text;
    };
    if needed.contains(&least) || needed.contains(&greatest) {
        let sign = if block.of.signed == Some(true) {
            ""
        } else {
            "u"
        };
        let of = format!("{sign}int{}_t", 8 * block.of.size);
        let _ = environment;
        text += &format!(
            "        for (unsigned k = 0; k < bounds; k++) {{\n            __int128 e = (({of} *)start)[k];\n            \
             if (k == 0 || e < v[{least}])\n                v[{least}] = e;\n            \
             if (k == 0 || e > v[{greatest}])\n                v[{greatest}] = e;\n        }}\n"
        );
    }
    text
}

/// A pointer to an earlier block.
fn alias_of(environment: &Environment, index: usize, block: &Block, alias: usize) -> String {
    let first = &environment.blocks[alias];
    let mut text = format!(
        "    if (p{index} == {0} && p{alias} == {0}) {{\n",
        alias + 1
    );
    text += &format!("        v[{}] = {};\n", block.address, alias + 1);
    for (to, from) in environment
        .attributes(block)
        .into_iter()
        .zip(environment.attributes(first))
    {
        text += &format!("        v[{to}] = v[{from}];\n");
    }
    text += &format!("        pointers[{index}] = pointers[{alias}];\n    }}\n");
    text
}

/// Members of what is there; of what is not they are zero.
fn member(environment: &Environment, index: usize, number: &NumberPlace) -> String {
    let Home::Member(parent, offset) = number.home else {
        return String::new();
    };
    let (bounds, at) = (environment.blocks[parent].bounds, number.variable);
    format!(
        "    if (v[{bounds}] > 0)\n        memcpy((char *)pointers[{parent}] + {offset}, &n{index}, {});\n    else if (n{index} != 0)\n        return 0;\n    else\n        v[{at}] = 0;\n",
        number.bytes.min(8)
    )
}

/// The call that an explored input makes: its valuation, and the test for the runner.
pub fn call(environment: &Environment, input: &Memory) -> Option<(Valuation, TestCase)> {
    let get = |name: String| {
        let found = input
            .variables
            .iter()
            .find(|variable| variable.name == name)?;
        match found.value {
            Value::Integer { value, .. } => Some(value),
            _ => None,
        }
    };
    let mut values = vec![0i64; environment.quantities.len()];
    let mut test = TestCase {
        numbers: Vec::new(),
        blocks: Vec::new(),
    };
    for (index, number) in environment.numbers.iter().enumerate() {
        let value = get(format!("n{index}"))?;
        values[number.variable] = value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        test.numbers.push(value as i64);
    }
    for (index, block) in environment.blocks.iter().enumerate() {
        let address = get(format!("p{index}"))? as i64;
        values[block.address] = address;
        let own = address == index as i64 + 1;
        if own {
            let bounds = (get(format!("b{index}"))? as i64).min(most(environment, block.bounds));
            values[block.bounds] = bounds;
            let before = match block.before {
                Some(variable) => {
                    let most = environment.quantities[variable]
                        .range
                        .1
                        .min(largest(environment) / 2);
                    values[variable] = (get(format!("w{index}"))? as i64).min(most);
                    values[variable]
                }
                None => 0,
            };
            let size = block.of.size as usize;
            let mut content = vec![0u8; (before + bounds) as usize * size];
            if element_bits(block).is_some() {
                for k in 0..bounds {
                    let element = get(format!("c{index}_{k}"))?.to_le_bytes();
                    let at = (before + k) as usize * size;
                    content[at..at + size].copy_from_slice(&element[..size]);
                }
            }
            describe(block, &content[before as usize * size..], &mut values);
            test.blocks
                .push((Given::Own, before as usize * size, content));
        } else if address == 0 {
            test.blocks.push((Given::Null, 0, Vec::new()));
        } else {
            let first = &environment.blocks[address as usize - 1];
            for (to, from) in environment
                .attributes(block)
                .into_iter()
                .zip(environment.attributes(first))
            {
                values[to] = values[from];
            }
            test.blocks
                .push((Given::Same(address as usize - 1), 0, Vec::new()));
        }
    }
    Some((values, test))
}

/// What the bytes of a block say: where some of them are, the least and the greatest element.
fn describe(block: &Block, content: &[u8], values: &mut [i64]) {
    for (byte, find) in &block.finds {
        let mut elements = content.chunks(block.of.size as usize);
        let count = elements.len();
        let is_it =
            |element: &[u8]| element[0] == *byte && element[1..].iter().all(|rest| *rest == 0);
        let first = elements.position(is_it);
        values[*find] = first.unwrap_or(count) as i64;
    }
    if let Some((least, greatest)) = block.range {
        let element = |bytes: &[u8]| {
            let is_negative =
                block.of.signed == Some(true) && bytes.last().is_some_and(|b| b >> 7 == 1);
            let mut wide = [if is_negative { 0xff } else { 0 }; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            i64::from_le_bytes(wide)
        };
        let elements: Vec<i64> = content
            .chunks(block.of.size as usize)
            .map(element)
            .collect();
        values[least] = elements.iter().copied().min().unwrap_or(0);
        values[greatest] = elements.iter().copied().max().unwrap_or(0);
    }
}
