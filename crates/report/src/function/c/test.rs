//! One test: the input, the call, the comparisons.

use nearmiss_results::{Block, FunctionReport, PathTest, Role, Value, Variable, Verdict};

use super::check::Check;
use super::checks::Checks;
use super::framework::Framework;
use super::inputs::{Inputs, scalar};
use super::scene::Scene;
use super::{stubs, wrap};
use crate::function::{ctype, failures, outcomes};
use crate::text::Detail;
use crate::words::shortened;

/// What stands before each statement.
const INDENT: &str = "    ";
/// Longest value in a comment.
const WIDTH: usize = 80;

/// The test's function, with its stubs before it. Returns its name and the text.
pub fn function(
    report: &FunctionReport,
    test: &PathTest,
    framework: Framework,
) -> (String, String) {
    let mut scene = Scene::new(report, test);
    let mut body: String = Inputs::statements(&scene, report)
        .iter()
        .map(|statement| wrap::statement(statement, INDENT))
        .collect();
    let checks = test
        .after
        .as_ref()
        .map(|after| Checks::of(&mut scene, after));
    let checks = checks.unwrap_or_default();
    for declaration in &checks.declarations {
        body += &wrap::statement(declaration, INDENT);
    }
    if !body.is_empty() {
        body.push('\n');
    }
    body += &wrap::statement(&call(report, &scene, &checks.checks), INDENT);
    if !checks.checks.is_empty() {
        body.push('\n');
    }
    for check in &checks.checks {
        body += &wrap::statement(&framework.statement(check), INDENT);
    }
    body += &frees(&scene);
    let text =
        comment(report, test) + &stubs::functions(&scene) + &framework.test(&scene.name, &body);
    (scene.name, text)
}

/// Why a test would fail if it were run: such tests are written, but not run.
pub fn why_disabled(report: &FunctionReport, test: &PathTest) -> Option<String> {
    if let Some(found) = failures::finding_of(report, test) {
        let words = failures::words(found);
        return Some(format!("it fails: {}, {words}", found.id));
    }
    match &test.verdict {
        Verdict::None | Verdict::Pass => None,
        Verdict::Fail => {
            let oracle = report.oracle.as_deref().unwrap_or("the oracle");
            Some(format!("{oracle} rejects this result"))
        }
        Verdict::Failure(what) => Some(format!("it fails: {what}")),
        Verdict::Ended(how) => Some(format!("it does not return: {how}")),
    }
}

/// The input and what it gives, in short.
fn comment(report: &FunctionReport, test: &PathTest) -> String {
    let input = shortened(&outcomes::input(&test.before, Detail::Brief), WIDTH);
    let mut lines = vec![format!("Path {}: {input}", test.number)];
    if test.after.is_some() {
        let outcome = shortened(&outcomes::outcome(test, Detail::Brief), WIDTH);
        lines.push(format!("gives {outcome}"));
    }
    if let Some(why) = why_disabled(report, test) {
        lines.push(format!("Not run, because {why}."));
    }
    let text = lines.join("\n * ");
    let text = text.replace("*/", "* /").replace("/*", "/ *");
    format!("/* {text} */\n")
}

/// `int result = merge(t1, 2);`
fn call(report: &FunctionReport, scene: &Scene<'_>, checks: &[Check]) -> String {
    let parameters = scene.test.before.variables.iter();
    let arguments: Vec<String> = parameters
        .filter(|variable| variable.role == Role::Parameter)
        .map(|parameter| argument(scene, parameter))
        .collect();
    let call = format!("{}({});", report.function, arguments.join(", "));
    let after = scene.test.after.as_ref();
    let result = after.and_then(|after| after.variables.iter().find(|it| it.role == Role::Result));
    match result {
        Some(result) if !checks.is_empty() => {
            let ctype = ctype::unqualified(&result.ctype);
            format!("{} = {call}", ctype::declare(&ctype, &scene.result))
        }
        _ => call,
    }
}

fn argument(scene: &Scene<'_>, parameter: &Variable) -> String {
    if let Some(local) = scene.local(&parameter.name) {
        return local.to_string();
    }
    let Value::Pointer { block, index } = parameter.value else {
        return scalar(scene, &parameter.value, &parameter.ctype);
    };
    let pointer = scene.pointer(block, index).unwrap_or("NULL".into());
    let target = scene.test.before.blocks.get(block);
    match target.is_some_and(|target| needs_cast(target, &parameter.ctype)) {
        true if pointer.contains(" + ") => format!("(void *)({pointer})"),
        true => format!("(void *){pointer}"),
        false => pointer,
    }
}

/// Whether a pointer of this type to such a block makes a compiler speak.
fn needs_cast(block: &Block, ctype: &str) -> bool {
    let Some(target) = ctype::pointed_to(ctype) else {
        return false;
    };
    let target = ctype::unqualified(&target);
    target != "void" && target != ctype::unqualified(&block.element)
}

/// What the function has left on the heap.
fn frees(scene: &Scene<'_>) -> String {
    let (true, Some(after)) = (scene.heap, &scene.test.after) else {
        return String::new();
    };
    let kept = after
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| !block.freed);
    let names = kept.filter_map(|(number, _)| scene.block_name(number));
    names
        .map(|name| format!("{INDENT}free({name});\n"))
        .collect()
}
