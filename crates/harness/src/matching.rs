//! Which inputs a precondition and an oracle take: by their parameters' names.

use nearmiss_results::Role;

use crate::HarnessError;
use crate::bounds;
use crate::layout::Layout;
use crate::plan::{Argument, Call, listed};
use crate::types::{Kind, Parameter, TypeId, Types};
use crate::unit::{Function, Unit};

/// The names of a parameter of an oracle that is what the function gave back.
const RESULTS: [&str; 2] = ["result", "return_value"];

/// The precondition's call: by names if it has only names of inputs, else by position.
pub(crate) fn precondition(unit: &Unit, layout: &Layout, name: &str) -> Result<Call, HarnessError> {
    let function = find(unit, "--pre", name)?;
    if matches!(
        unit.types.kind(function.signature.result),
        Kind::Void | Kind::Record(_)
    ) {
        return Err(HarnessError(format!(
            "`--pre {name}`: it must give back a number, nonzero for inputs that are admissible"
        )));
    }
    let parameters = &function.signature.parameters;
    let argument = |name: &str| match input(layout, name) {
        Some(root) => Some(Argument::Live(root)),
        None => bounds::extent(layout, name).map(Argument::Extent),
    };
    let unknown = parameters.iter().find(|p| argument(&p.name).is_none());
    let inputs = layout.roots.iter().filter(|root| root.role != Role::Stub);
    let function_parameters = layout
        .roots
        .iter()
        .filter(|root| root.role == Role::Parameter);
    let arguments: Vec<Argument> = match unknown {
        None => parameters
            .iter()
            .filter_map(|p| argument(&p.name))
            .collect(),
        Some(_) if parameters.len() == function_parameters.count() => {
            (0..parameters.len()).map(Argument::Live).collect()
        }
        Some(unknown) => {
            let names: Vec<String> = inputs.map(|root| root.name.clone()).collect();
            return Err(HarnessError(format!(
                "`--pre {name}`: no input is called `{}` as its parameter is; there are {}; \
                 `p_bounds` is how many elements there are where `p` points",
                unknown.name,
                listed(&names)
            )));
        }
    };
    for (parameter, argument) in parameters.iter().zip(&arguments) {
        fits(
            unit,
            layout,
            ("--pre", name),
            parameter,
            *argument,
            function,
        )?;
    }
    Ok(Call {
        function: function.clone(),
        arguments,
    })
}

/// The oracle's call: inputs after the call, `old_x` before it, `result`.
pub(crate) fn oracle(
    unit: &Unit,
    layout: &Layout,
    tested: &Function,
    name: &str,
) -> Result<Call, HarnessError> {
    let function = find(unit, "--oracle", name)?;
    if let Kind::Record(_) = unit.types.kind(function.signature.result) {
        return Err(HarnessError(format!(
            "`--oracle {name}`: it must give back a number, nonzero for a pass, or nothing and assert"
        )));
    }
    let mut arguments = Vec::new();
    for parameter in &function.signature.parameters {
        let word = parameter.name.as_str();
        let argument = match (
            input(layout, word),
            old_name(word).and_then(|old| input(layout, old)),
        ) {
            (Some(root), _) => Argument::Live(root),
            (None, Some(root)) => Argument::Old(root),
            (None, None) if RESULTS.contains(&word) => Argument::Result,
            (None, None) => {
                let inputs = layout.roots.iter().filter(|root| root.role != Role::Stub);
                let names: Vec<String> = inputs.map(|root| root.name.clone()).collect();
                return Err(HarnessError(format!(
                    "`--oracle {name}`: what is its parameter `{word}`? It may have inputs ({}), inputs \
                     before the call (`old_…`), and `result`",
                    listed(&names)
                )));
            }
        };
        fits(
            unit,
            layout,
            ("--oracle", name),
            parameter,
            argument,
            tested,
        )?;
        arguments.push(argument);
    }
    Ok(Call {
        function: function.clone(),
        arguments,
    })
}

fn find<'a>(unit: &'a Unit, option: &str, name: &str) -> Result<&'a Function, HarnessError> {
    let found = unit.function(name);
    let function = found.ok_or_else(|| {
        let hidden = unit.functions.iter().any(|function| function.name == name);
        HarnessError(if hidden {
            format!("`{option} {name}`: it is static in another file")
        } else {
            format!("`{option} {name}`: no file has a function of that name")
        })
    })?;
    if function.signature.variadic {
        return Err(HarnessError(format!(
            "`{option} {name}`: it takes a variable number of arguments (`...`)"
        )));
    }
    Ok(function)
}

/// The root with this name that is a parameter or a global.
fn input(layout: &Layout, name: &str) -> Option<usize> {
    let is_it = |root: &crate::model::Root| root.role != Role::Stub && root.name == name;
    layout.roots.iter().position(is_it)
}

/// `x` for `old_x`, `x_old`, `x_before`.
fn old_name(name: &str) -> Option<&str> {
    let front = name.strip_prefix("old_");
    let back = || {
        name.strip_suffix("_old")
            .or_else(|| name.strip_suffix("_before"))
    };
    front.or_else(back)
}

/// Numbers go to numbers, pointers to pointers, structures to structures of the same size.
fn fits(
    unit: &Unit,
    layout: &Layout,
    (option, name): (&str, &str),
    parameter: &Parameter,
    argument: Argument,
    tested: &Function,
) -> Result<(), HarnessError> {
    let types = &unit.types;
    let given = match argument {
        Argument::Live(root) | Argument::Old(root) => layout.roots[root].of,
        Argument::Result => tested.signature.result,
        Argument::Extent(_) => return is_number(types, (option, name), parameter),
    };
    if class(types, given) == class(types, parameter.of) {
        return Ok(());
    }
    Err(HarnessError(format!(
        "`{option} {name}`: its parameter `{}` is `{}`, but the input is `{}`",
        parameter.name,
        types.spell(parameter.of),
        types.spell(given)
    )))
}

/// A size is a number.
fn is_number(
    types: &Types,
    (option, name): (&str, &str),
    parameter: &Parameter,
) -> Result<(), HarnessError> {
    match types.kind(parameter.of) {
        Kind::Integer(_) => Ok(()),
        _ => Err(HarnessError(format!(
            "`{option} {name}`: its parameter `{}` is `{}`, but a size is a number",
            parameter.name,
            types.spell(parameter.of)
        ))),
    }
}

/// What must be alike for a value to be passed.
fn class(types: &Types, of: TypeId) -> (u8, u64) {
    match types.kind(of) {
        Kind::Integer(_) | Kind::Enumeration(..) | Kind::Float => (0, 0),
        // An array that is a global is passed as a pointer.
        Kind::Pointer(_) | Kind::Array(..) | Kind::Function(_) => (1, 0),
        Kind::Record(_) => (2, types.size(of)),
        Kind::Void => (3, 0),
        _ => (4, types.size(of)),
    }
}
