//! Functions that stand for pointers to functions: they give back what was recorded, call by call.

use nearmiss_results::{Role, Value, Variable};

use super::inputs::scalar;
use super::scene::Scene;
use super::wrap;
use crate::function::ctype;

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
    let recorded: Vec<String> = match recorded {
        Value::Array(items) => items
            .iter()
            .map(|item| scalar(scene, item, result))
            .collect(),
        value => vec![scalar(scene, value, result)],
    };
    let declared = |name: &str| ctype::declare(&ctype::unqualified(result), name);
    let last = match recorded.as_slice() {
        [] => return format!("    static {};\n    return nothing;\n", declared("nothing")),
        [only] => return format!("    return {only};\n"),
        several => several.len() - 1,
    };
    let values = format!(
        "static {} = {{{}}};",
        declared("results[]"),
        recorded.join(", ")
    );
    wrap::statement(&values, "    ")
        + "    static size_t calls;\n"
        + &format!("    return results[calls < {last} ? calls++ : {last}];\n")
}
