//! Functions that stand for pointers to functions: they give back what was recorded, call by call.

use nearmiss_results::{Role, Value, Variable};

use super::inputs::scalar;
use super::scene::Scene;
use super::wrap;
use crate::function::ctype;
use crate::function::value::without_repetition;

/// The stubs of a test.
pub fn functions(scene: &Scene<'_>) -> String {
    let variables = scene.test.before.variables.iter();
    let stubs = variables.filter(|variable| variable.role == Role::Stub);
    stubs.filter_map(|stub| function(scene, stub)).collect()
}

fn function(scene: &Scene<'_>, stub: &Variable) -> Option<String> {
    let (result, parameters) = ctype::of_function(&stub.ctype)?;
    let name = scene.function(&stub.name);
    let named: Vec<String> = parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| match parameter.as_str() {
            "void" | "..." => parameter.clone(),
            parameter => ctype::declare(parameter, &format!("argument{}", index + 1)),
        })
        .collect();
    let list = match named.is_empty() {
        true => "void".to_string(),
        false => named.join(", "),
    };
    let head = ctype::declare(&result, &format!("{name}({list})"));
    let mut text = wrap::statement(&format!("static {head}"), "");
    text += "{\n";
    for (index, parameter) in parameters.iter().enumerate() {
        if !["void", "..."].contains(&parameter.as_str()) {
            text += &format!("    (void)argument{};\n", index + 1);
        }
    }
    if result != "void" {
        text += &results(scene, &stub.value, &result);
    }
    Some(text + "}\n\n")
}

/// What it gives back: what was recorded in its order, then the last again.
fn results(scene: &Scene<'_>, recorded: &Value, result: &str) -> String {
    let result = ctype::unqualified(result);
    let recorded: Vec<&Value> = match recorded {
        Value::Array(items) => without_repetition(items).iter().collect(),
        value => vec![value],
    };
    let values: Vec<String> = recorded
        .iter()
        .map(|it| constant(scene, it, &result))
        .collect();
    let last = match (recorded.as_slice(), values.as_slice()) {
        ([], _) => {
            let nothing = ctype::declare(&result, "nothing");
            return format!("    static {nothing};\n    return nothing;\n");
        }
        ([Value::Structure(_)], [only]) => {
            return wrap::statement(&format!("return ({result}){only};"), "    ");
        }
        (_, [only]) => return format!("    return {only};\n"),
        _ => values.len() - 1,
    };
    let declared = ctype::declare(&result, "results[]");
    wrap::statement(&format!("{declared} = {{{}}};", values.join(", ")), "    ")
        + "    static size_t calls;\n"
        + &format!("    return results[calls < {last} ? calls++ : {last}];\n")
}

/// A value as an initialiser. What points to something is nothing here: stubs know no blocks.
fn constant(scene: &Scene<'_>, value: &Value, ctype: &str) -> String {
    let braced = |parts: Vec<String>| format!("{{{}}}", parts.join(", "));
    match value {
        Value::Structure(members) => {
            let named = members.iter().filter(|(name, _)| !name.is_empty());
            let parts =
                named.map(|(name, value)| format!(".{name} = {}", constant(scene, value, "")));
            braced(parts.collect())
        }
        Value::Array(items) => braced(items.iter().map(|it| constant(scene, it, "")).collect()),
        value => scalar(scene, value, ctype),
    }
}
