//! C for the call of a function: its arguments, and stubs for functions that it is passed.
//!
//! A stub reads what its pointers lead to, as the function that it stands for would: one element by its type. Of two
//! `void *`, as comparisons are given, it reads as many bytes as an element has by another parameter, and compares them.

use nearmiss_harness::{Pointee, Prototype, Shape};

use crate::environment::{Environment, Home};

/// The functions that are passed, and `nm_numbers`, which a call has to set.
pub fn definitions(prototype: &Prototype, environment: &Environment) -> String {
    let mut text = String::from(
        "static const int64_t *nm_numbers;\nstatic volatile unsigned char nm_seen;\n\
         static int nm_turn;\n",
    );
    for (index, parameter) in prototype.parameters.iter().enumerate() {
        if let Shape::Function(parameters, result) = &parameter.shape {
            let element = size_of_element(prototype, environment);
            text += &stub(index, parameters, result, element);
        }
    }
    text
}

/// What the function is called with: elements of `numbers` and `pointers`, and stubs.
pub fn arguments(prototype: &Prototype, environment: &Environment) -> String {
    let argument = |(index, parameter): (usize, &nearmiss_harness::Declared)| {
        let here = Home::Parameter(index);
        let number = environment.numbers.iter().position(|n| n.home == here);
        let block = environment.blocks.iter().position(|b| b.home == here);
        match (number, block, &parameter.shape) {
            (Some(number), _, _) => format!("({})numbers[{number}]", parameter.spelled),
            (_, Some(block), _) => format!("(void *)pointers[{block}]"),
            (_, _, Shape::Function(..)) => format!("(void *)nm_stub_{index}"),
            _ => "0".into(),
        }
    };
    let all: Vec<String> = prototype
        .parameters
        .iter()
        .enumerate()
        .map(argument)
        .collect();
    all.join(", ")
}

/// What stubs do that are passed, for the report.
pub fn notes(prototype: &Prototype, environment: &Environment) -> Vec<String> {
    let mut notes = Vec::new();
    for parameter in &prototype.parameters {
        let Shape::Function(parameters, _) = &parameter.shape else {
            continue;
        };
        let element = size_of_element(prototype, environment);
        let size = element.map(|number| environment.numbers[number].place.as_str());
        let name = &parameter.name;
        notes.push(match size.filter(|_| compares(parameters)) {
            Some(size) => format!("{name} is a stub: it compares {size} bytes of both elements"),
            None => format!(
                "{name} is a stub: it reads one element of each pointer to a type that is known"
            ),
        });
    }
    notes
}

/// Whether it is given two pointers to memory, as comparisons are.
fn compares(parameters: &[Shape]) -> bool {
    let is_void = |shape: &Shape| matches!(shape, Shape::Pointer(of) if of.is_void);
    parameters.len() >= 2 && parameters[..2].iter().all(is_void)
}

/// The number that says how many bytes an element has: `size`, `width`, or the last of several sizes.
fn size_of_element(prototype: &Prototype, environment: &Environment) -> Option<usize> {
    let is_size = |home: Home| {
        let Home::Parameter(index) = home else {
            return false;
        };
        let spelled = &prototype.parameters[index].spelled;
        spelled == "size_t" || spelled == "unsigned long"
    };
    let sizes = || (0..environment.numbers.len()).filter(|n| is_size(environment.numbers[*n].home));
    let is_named = |number: &usize| {
        let name = environment.numbers[*number].place.to_lowercase();
        ["size", "width", "siz", "es", "elsize", "itemsize"].contains(&name.as_str())
    };
    let several = || sizes().nth(1).and_then(|_| sizes().next_back());
    sizes().find(is_named).or_else(several)
}

/// A function that stands for one that is passed.
fn stub(index: usize, parameters: &[Shape], result: &Shape, element: Option<usize>) -> String {
    let is_known = |shape: &Shape| !matches!(shape, Shape::Other);
    if !parameters.iter().all(is_known) {
        return format!("static long nm_stub_{index}(void) {{ return nm_turn++ % 3 - 1; }}\n");
    }
    let declared = |(number, shape): (usize, &Shape)| match shape {
        Shape::Pointer(_) => format!("const unsigned char *a{number}"),
        Shape::Float(4) => format!("float a{number}"),
        Shape::Float(_) => format!("double a{number}"),
        _ => format!("long a{number}"),
    };
    let heads: Vec<String> = parameters.iter().enumerate().map(declared).collect();
    let head = match heads.is_empty() {
        true => "void".to_string(),
        false => heads.join(", "),
    };
    let mut body = String::new();
    if let Some(size) = element.filter(|_| compares(parameters)) {
        body += &format!(
            "    for (int64_t i = 0; i < nm_numbers[{size}]; i++)\n        if (a0[i] != a1[i])\n            \
             return a0[i] < a1[i] ? -1 : 1;\n    return 0;\n"
        );
    } else {
        for (number, shape) in parameters.iter().enumerate() {
            if let Shape::Pointer(of) = shape {
                body += &reading(number, of);
            }
        }
        body += &answer(parameters, result);
    }
    format!("static long nm_stub_{index}({head})\n{{\n{body}}}\n")
}

/// One element of what a pointer leads to; nothing where its size is not known.
fn reading(number: usize, of: &Pointee) -> String {
    if of.is_void || of.size == 0 {
        return String::new();
    }
    let size = of.size;
    format!(
        "    for (int64_t i = 0; a{number} && i < {size}; i++)\n        nm_seen = a{number}[i];\n"
    )
}

/// What a stub gives back: -1, 0 or 1; memory, if a pointer is asked for, and every third time none.
fn answer(parameters: &[Shape], result: &Shape) -> String {
    if !matches!(result, Shape::Pointer(_)) {
        return "    return nm_turn++ % 3 - 1;\n".into();
    }
    let is_number = |shape: &Shape| matches!(shape, Shape::Integer { .. });
    let size = match parameters.iter().position(is_number) {
        Some(number) => format!("a{number} > 0 && a{number} < 4096 ? a{number} : 64"),
        None => "64".into(),
    };
    format!("    return nm_turn++ % 3 == 2 ? 0 : (long)calloc(1, {size});\n")
}
