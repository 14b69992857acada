//! Functions that stand for pointers to functions, or for functions that nobody defines: they give back and
//! write what was recorded, call by call.

use nearmiss_results::{FunctionReport, Role, Variable};

use super::inputs::Inputs;
use super::place::Place;
use super::scene::Scene;
use super::tables::{Table, rows};
use super::wrap;
use crate::function::ctype;

/// The stubs of a test.
pub fn functions(scene: &Scene<'_>) -> String {
    let stubs = recorded(scene).into_iter();
    stubs.filter_map(|stub| stub.function(scene)).collect()
}

/// Definitions of functions that are stubs: each test says which one it is.
pub fn definitions(report: &FunctionReport) -> String {
    let mut text = String::new();
    for name in &report.undefined.stubbed {
        let tests = report.tests.iter();
        let mut variables = tests.flat_map(|test| &test.before.variables);
        let found = variables.find(|it| it.role == Role::Stub && it.name == *name);
        let Some((result, parameters)) = found.and_then(|it| ctype::of_function(&it.ctype)) else {
            continue;
        };
        let head = ctype::declare(&result, &format!("{name}({})", named(&parameters)));
        let arguments: Vec<String> = (1..=parameters.len())
            .filter(|number| is_named(&parameters[number - 1]))
            .map(argument)
            .collect();
        let keep = if result == "void" { "" } else { "return " };
        let pointer = pointer_name(name);
        text += &format!("static __typeof__({name}) *{pointer};\n#undef {name}\n");
        text += &wrap::statement(&head, "");
        text += &format!("{{\n    {keep}{pointer}({});\n}}\n\n", arguments.join(", "));
    }
    text
}

/// What a test says before it calls the function: which stubs there are, and what they give that has to
/// be built first.
pub fn statements(inputs: &mut Inputs<'_>, report: &FunctionReport) {
    let scene = inputs.scene;
    for stub in recorded(scene) {
        let (name, function) = (&stub.variable.name, scene.function(&stub.variable.name));
        if report.undefined.stubbed.contains(name) {
            let pointer = pointer_name(name);
            inputs.statements.push(format!("{pointer} = {function};"));
        }
        for table in stub.tables(scene).iter().filter(|table| table.is_shared()) {
            let rows = table.rows.iter().enumerate();
            for (call, row) in rows {
                let place = Place::Object(format!("{}[{call}]", table.name));
                table.fill(inputs, row, &place);
            }
        }
    }
}

/// A stub, and what it writes through which parameter.
struct Recorded<'a> {
    variable: &'a Variable,
    writes: Vec<(usize, &'a Variable)>,
}

fn recorded<'a>(scene: &Scene<'a>) -> Vec<Recorded<'a>> {
    let variables = &scene.test.before.variables;
    let stubs = variables.iter().filter(|it| it.role == Role::Stub);
    let writes = |stub: &Variable| {
        let written = variables.iter().filter(|it| it.role == Role::Written);
        let written = written.filter_map(|it| {
            let rest = it.name.strip_prefix(&stub.name)?;
            let number = rest.strip_prefix(".argument")?.parse().ok()?;
            Some((number, it))
        });
        written.collect()
    };
    stubs
        .map(|variable| Recorded {
            variable,
            writes: writes(variable),
        })
        .collect()
}

impl<'a> Recorded<'a> {
    fn function(&self, scene: &Scene<'_>) -> Option<String> {
        let (result, parameters) = ctype::of_function(&self.variable.ctype)?;
        let name = scene.function(&self.variable.name);
        let tables = self.tables(scene);
        let mut text = String::new();
        for table in tables.iter().filter(|table| table.is_shared()) {
            let calls = table.rows.len().to_string();
            text += &format!("static {};\n", table.declared(&calls));
        }
        let head = ctype::declare(&result, &format!("{name}({})", named(&parameters)));
        text += &wrap::statement(&format!("static {head}"), "");
        text += "{\n";
        for (index, parameter) in parameters.iter().enumerate() {
            let is_used = |table: &Table<'_>| table.parameter == Some(index + 1);
            if is_named(parameter) && !tables.iter().any(is_used) {
                text += &format!("    (void){};\n", argument(index + 1));
            }
        }
        for table in tables.iter().filter(|table| !table.is_shared()) {
            text += &table.declaration(scene);
        }
        Some(text + &uses(scene, &tables, &result) + "}\n\n")
    }

    /// What it writes, then what it gives back.
    fn tables(&self, scene: &Scene<'_>) -> Vec<Table<'a>> {
        let name = scene.function(&self.variable.name);
        let mut tables = Vec::new();
        for (parameter, written) in &self.writes {
            tables.push(Table {
                parameter: Some(*parameter),
                name: format!("writes{parameter}"),
                of: ctype::unqualified(&written.ctype),
                rows: rows(&written.value),
            });
        }
        let results = rows(&self.variable.value);
        if let (Some((result, _)), false) =
            (ctype::of_function(&self.variable.ctype), results.is_empty())
        {
            tables.push(Table {
                parameter: None,
                name: "results".to_string(),
                of: ctype::unqualified(&result),
                rows: results,
            });
        }
        for table in tables.iter_mut().filter(|table| table.is_shared()) {
            table.name = format!("{name}_{}", table.name);
        }
        tables
    }
}

/// What a stub does with its tables.
fn uses(scene: &Scene<'_>, tables: &[Table<'_>], result: &str) -> String {
    let longest = tables.iter().map(|table| table.rows.len()).max();
    let last = longest.unwrap_or(1) - 1;
    let mut text = String::new();
    let mut call = "call".to_string();
    if last > 0 {
        text += "    static size_t calls;\n";
        let next = format!("calls < {last} ? calls++ : {last}");
        match tables {
            [_] => call = next,
            _ => text += &format!("    size_t call = {next};\n"),
        }
    }
    for table in tables {
        text += &table.use_of(scene, &call, last);
    }
    if result != "void" && tables.iter().all(|table| table.parameter.is_some()) {
        let nothing = ctype::declare(&ctype::unqualified(result), "nothing");
        text += &format!("    static {nothing};\n    return nothing;\n");
    }
    text
}

fn pointer_name(function: &str) -> String {
    format!("nearmiss_stub_{function}")
}

/// What a stub calls its parameter with this number, from 1.
pub fn argument(number: usize) -> String {
    format!("argument{number}")
}

fn is_named(parameter: &str) -> bool {
    !["void", "..."].contains(&parameter)
}

/// Parameters with names.
fn named(parameters: &[String]) -> String {
    let parameters: Vec<String> = (parameters.iter().enumerate())
        .map(|(index, parameter)| match is_named(parameter) {
            true => ctype::declare(parameter, &argument(index + 1)),
            false => parameter.clone(),
        })
        .collect();
    match parameters.is_empty() {
        true => "void".to_string(),
        false => parameters.join(", "),
    }
}
