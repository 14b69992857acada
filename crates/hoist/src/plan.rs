//! What a function is given, as inputs: a plan, and the C code that makes them inputs when the function is entered.
//!
//! Scalars, what pointers lead to (numbers, members of structures, and what those point to, up to a depth), and the globals
//! that the function reads. Of each pointer that is followed, whether it is null and how many elements it has are
//! inputs too.

use std::fmt::Write;

use nearmiss_harness::Unit;
use nearmiss_harness::entry::{Base, Definition, Leaf, Place, Step};

use crate::inputs::{Input, Role};

/// How many pointers are followed, one behind the other.
const MOST_POINTERS: usize = 2;
/// Elements of an array that are inputs.
pub const MOST_ELEMENTS: u64 = 256;
/// Inputs of a function.
const MOST_INPUTS: usize = 120;
/// The largest object whose number of elements is an input: four bytes hold it.
const BOUNDS_BYTES: u32 = 4;

/// The inputs of a function.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The inputs, in the order of their numbers.
    pub inputs: Vec<Input>,
    /// The globals whose addresses the code is given, behind those of the parameters.
    pub globals: Vec<String>,
    /// The C statements that make them inputs.
    code: String,
    /// How many variables the code has.
    variables: usize,
}

/// The name of the code that is called when the function with this number is entered.
pub fn enter_name(number: usize) -> String {
    format!("__nm_hoist_enter_{number}")
}

/// The name of the code that is called when it returns.
pub const LEAVE: &str = "__nm_hoist_leave";

/// Declarations for the code of all functions.
const HEAD: &str = "\
/* Written by nearmiss hoist. */
extern int __nm_hoist_wanted(void **places, unsigned number);
extern void __nm_hoist_input(void *memory, unsigned long size, const char *name);
extern unsigned long __nm_hoist_pointer(void **at, unsigned element, const char *null, const char *bounds,
                                        const char *before, char **now);
extern void __nm_hoist_begin(void);
";

/// The C file that records calls of these functions.
pub fn recorder(plans: &[Plan]) -> String {
    let mut text = HEAD.to_string();
    for (number, plan) in plans.iter().enumerate() {
        let name = enter_name(number);
        let _ = write!(
            text,
            "\nvoid {name}(void **places)\n{{\n    if (!__nm_hoist_wanted(places, {number}))\n        return;\n{}    __nm_hoist_begin();\n}}\n",
            plan.code
        );
    }
    text
}

impl Plan {
    /// The plan of a function that reads these globals.
    pub fn of(unit: &Unit, function: &Definition, globals: &[String]) -> Plan {
        let mut plan = Plan::default();
        let parameters = function.parameters.len();
        for (number, name) in function.parameters.iter().enumerate() {
            if let Ok(place) = unit.base(function, name) {
                plan.add(unit, &place, name, &format!("places[{number}]"), 4);
            }
        }
        for name in globals {
            let Ok(place) = unit.base(function, name) else {
                continue;
            };
            let is_global = place.access.base == Base::Global(name.clone());
            if !is_global || unit.is_constant(name) {
                continue;
            }
            let number = parameters + plan.globals.len();
            plan.globals.push(name.clone());
            // Another file's own variable has no address here.
            plan.line(4, &format!("if (places[{number}] != 0) {{"));
            plan.add(unit, &place, name, &format!("places[{number}]"), 8);
            plan.line(4, "}");
        }
        plan
    }

    /// Makes what lies at a place an input; `memory` is the C expression of its address.
    fn add(&mut self, unit: &Unit, place: &Place, name: &str, memory: &str, indent: usize) {
        if self.inputs.len() >= MOST_INPUTS {
            return;
        }
        match &place.leaf {
            Leaf::Integer { signed, bytes } => {
                let (signed, bytes) = (*signed, *bytes);
                let channel = self.input(name, Role::Value, signed, bytes as u32);
                self.line(
                    indent,
                    &format!("__nm_hoist_input({memory}, {bytes}, \"{channel}\");"),
                );
            }
            Leaf::Array { count, .. } => {
                self.elements(unit, place, name, memory, &count.to_string(), indent);
            }
            Leaf::Record => self.members(unit, place, name, memory, indent),
            Leaf::Pointer { element, .. } if place.access.pointers.len() < MOST_POINTERS => {
                self.pointer(unit, place, (name, *element), memory, indent);
            }
            Leaf::Pointer { .. } | Leaf::Other(_) => {}
        }
    }

    fn pointer(
        &mut self,
        unit: &Unit,
        place: &Place,
        (name, element): (&str, u64),
        memory: &str,
        indent: usize,
    ) {
        if element == 0 || element > 1 << 20 {
            return;
        }
        let null = self.input(name, Role::Null, false, 1);
        let bounds = self.input(name, Role::Bounds, false, BOUNDS_BYTES);
        let before = self.input(name, Role::Before, false, BOUNDS_BYTES);
        let number = self.variables;
        self.variables += 1;
        let pad = indent;
        self.line(pad, "{");
        self.line(pad, &format!("    char *p{number} = *(char **)({memory});"));
        self.line(pad, &format!("    unsigned long n{number} = __nm_hoist_pointer((void **)({memory}), {element}, \"{null}\", \"{bounds}\", \"{before}\", &p{number});"));
        self.line(pad, &format!("    if (n{number} > 0) {{"));
        let Ok(first) = unit.part(place, &Step::Element(0)) else {
            return;
        };
        let target = format!("p{number}");
        match first.leaf {
            Leaf::Record => self.members(unit, &first, name, &target, indent + 8),
            Leaf::Integer { .. } => {
                self.elements(
                    unit,
                    place,
                    name,
                    &target,
                    &format!("n{number}"),
                    indent + 8,
                );
            }
            // `void *`, or a pointer to pointers.
            _ => {}
        }
        self.line(pad, "    }");
        self.line(pad, "}");
    }

    /// Numbers, one after the other; `count` is a C expression.
    fn elements(
        &mut self,
        unit: &Unit,
        place: &Place,
        name: &str,
        memory: &str,
        count: &str,
        indent: usize,
    ) {
        let Some((signed, bytes)) = unit.elements(place) else {
            return;
        };
        let channel = self.input(name, Role::Elements, signed, bytes as u32);
        let size = format!("({count} < {MOST_ELEMENTS} ? {count} : {MOST_ELEMENTS}) * {bytes}");
        self.line(
            indent,
            &format!("__nm_hoist_input({memory}, {size}, \"{channel}\");"),
        );
    }

    fn members(&mut self, unit: &Unit, place: &Place, name: &str, memory: &str, indent: usize) {
        let start = place.access.offset;
        for (names, member) in unit.members(place) {
            let arrow = if place.access.pointers.is_empty() {
                "."
            } else {
                "->"
            };
            let name = format!("{name}{arrow}{}", names.join("."));
            let memory = format!("(char *){memory} + {}", member.access.offset - start);
            self.add(unit, &member, &name, &memory, indent);
        }
    }

    /// A new input; the name of its channel.
    fn input(&mut self, place: &str, role: Role, signed: bool, bytes: u32) -> String {
        let input = Input {
            place: place.to_string(),
            role,
            signed,
            bytes,
        };
        let channel = input.channel();
        self.inputs.push(input);
        channel
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.code, "{}{text}", " ".repeat(indent));
    }
}
