//! Decides on the inputs of a function, and who gets which of them.

use nearmiss_results::Role;

use crate::bounds::Extent;
use crate::layout::{Builder, Layout, Scene};
use crate::matching;
use crate::model::{Owner, Place, Root};
use crate::path::Path;
use crate::reach::Reach;
use crate::rulebook::Rulebook;
use crate::rules::RuleKind;
use crate::types::{Kind, TypeId, Types};
use crate::unit::{Function, Unit};
use crate::{HarnessError, Request, require};

/// How deep lists and trees are where nothing is said.
pub const DEFAULT_DEPTH: u32 = 2;
/// Most elements where nothing is said.
pub const DEFAULT_ELEMENTS: u32 = 4;

/// The variable whose type says that of a function that is to be a stub: a pointer to it.
pub fn stub_pointer(function: &str) -> String {
    format!("nearmiss_stub_{function}")
}

/// The inputs of a function, and where they lie in the staging.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) types: Types,
    pub(crate) layout: Layout,
    pub(crate) function: Call,
    pub(crate) precondition: Option<Call>,
    pub(crate) oracle: Option<Call>,
    /// What holds for all inputs, as expressions in C.
    pub(crate) conditions: Vec<String>,
    /// How deep lists and trees are.
    pub(crate) depth: u32,
    /// What pointers may lead to that the function left.
    pub(crate) reach: Reach,
}

/// A function, and what the harness passes to it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub function: Function,
    pub arguments: Vec<Argument>,
}

/// What is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The root with this number, as it is.
    Live(usize),
    /// The root with this number, as it was before the call.
    Old(usize),
    /// What the function gave back.
    Result,
    /// How large the block of a pointer is.
    Extent(Extent),
}

impl Unit {
    /// Decides on the inputs.
    pub fn plan(&self, request: &Request) -> Result<Plan, HarnessError> {
        let function = self.tested(&request.function)?;
        let names = function.signature.parameters.iter().enumerate();
        let mut names: Vec<String> = names
            .map(|(place, p)| parameter_name(&p.name, place))
            .collect();
        names.extend(request.globals.iter().cloned());
        names.extend(self.stubbed(request).map(|(name, _)| name.to_string()));
        let mut builder = Builder {
            types: &self.types,
            rules: Rulebook::new(&request.rules, names)?,
            layout: Layout::default(),
            waiting: Default::default(),
            depth: or_default(request.depth, DEFAULT_DEPTH) as usize,
            untyped_bytes: request.untyped_bytes,
            elements: u64::from(or_default(request.elements, DEFAULT_ELEMENTS)),
            enumerations: Vec::new(),
            unions: Vec::new(),
        };
        for (place, parameter) in function.signature.parameters.iter().enumerate() {
            let name = parameter_name(&parameter.name, place);
            builder.parameter(&name, parameter.of, &parameter.tags)?;
        }
        for name in &request.globals {
            self.add_global(&mut builder, name)?;
        }
        for (name, of) in self.stubbed(request) {
            builder.function_stub(name, of)?;
        }
        builder.resolve()?;
        builder.assumptions();
        if let Some(rule) = builder.rules.unused() {
            return Err(builder.useless(rule));
        }
        let mut layout = builder.layout;
        layout.leaves_by_place();
        let precondition = request.precondition.as_ref();
        let precondition = precondition.map(|name| matching::precondition(self, &layout, name));
        let oracle = request.oracle.as_ref();
        let oracle = oracle.map(|name| matching::oracle(self, &layout, function, name));
        let arguments = (0..function.signature.parameters.len()).map(Argument::Live);
        let mut plan = Plan {
            types: self.types.clone(),
            function: Call {
                function: function.clone(),
                arguments: arguments.collect(),
            },
            precondition: precondition.transpose()?,
            oracle: oracle.transpose()?,
            conditions: Vec::new(),
            depth: or_default(request.depth, DEFAULT_DEPTH),
            reach: Reach::default(),
            layout,
        };
        plan.find_reach();
        let requirements = request.requirements.iter();
        plan.conditions = requirements
            .map(|text| require::write(text, &plan))
            .collect::<Result<_, _>>()?;
        Ok(plan)
    }

    /// The function under test.
    fn tested(&self, name: &str) -> Result<&Function, HarnessError> {
        let known = if name == "main" {
            "nearmiss_program_main"
        } else {
            name
        };
        let found = self.function(known).or_else(|| self.function(name));
        let Some(function) = found else {
            let mut names = self.functions();
            names.retain(|name| !name.starts_with("__"));
            names.truncate(12);
            return Err(HarnessError(format!(
                "there is no function `{name}`; the file has {}",
                listed(&names)
            )));
        };
        if function.object != 0 {
            return Err(HarnessError(format!(
                "`{name}` is not in the first file: name the file that has it first"
            )));
        }
        if function.signature.variadic {
            return Err(HarnessError(format!(
                "`{name}` takes a variable number of arguments (`...`): write a function that calls it \
                 with a fixed number of them, and explore that one with `--function`"
            )));
        }
        Ok(function)
    }

    /// Functions that are to be stubs, and their types: those for which [`stub_pointer`] is a variable.
    fn stubbed<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = (&'a str, TypeId)> {
        let rules = request.rules.iter();
        let names = rules.filter(|rule| rule.kind == RuleKind::Stub);
        names.filter_map(|rule| {
            let pointer = self.global(&stub_pointer(&rule.target))?;
            let Kind::Pointer(target) = *self.types.kind(pointer.of) else {
                return None;
            };
            let is_function = matches!(self.types.kind(target), Kind::Function(_));
            is_function.then_some((rule.target.as_str(), target))
        })
    }

    fn add_global(&self, builder: &mut Builder<'_>, name: &str) -> Result<(), HarnessError> {
        let Some(global) = self.global(name) else {
            if let Some(function) = self.function_of_local(name) {
                return Err(HarnessError(format!(
                    "`--global {name}`: it is a static variable inside `{function}`, which nothing outside \
                     can name: it has its first value at the start of every test; to make it an input, \
                     move it before the function"
                )));
            }
            let hidden = self.globals.iter().any(|global| global.name == name);
            let mut names: Vec<String> = self.globals.iter().map(|g| g.name.clone()).collect();
            names.truncate(12);
            return Err(HarnessError(if hidden {
                format!("`--global {name}`: it is static in another file; name that file first")
            } else {
                format!(
                    "`--global {name}`: there is no such variable of static storage; there are {}",
                    listed(&names)
                )
            }));
        };
        if self.types.is_qualified(global.of, "const") {
            return Err(HarnessError(format!(
                "`--global {name}`: it is const and cannot be an input"
            )));
        }
        if builder.layout.roots.iter().any(|root| root.name == name) {
            return Err(HarnessError(format!(
                "`--global {name}`: another input has that name"
            )));
        }
        let place = if global.object == 0 {
            Place::Named
        } else {
            Place::Foreign
        };
        builder.root(name, Role::Global, (global.of, &global.tags), place)
    }
}

impl Builder<'_> {
    fn parameter(&mut self, name: &str, of: TypeId, tags: &[String]) -> Result<(), HarnessError> {
        let record = self.types.record(of).is_some();
        if record && !self.types.is_nameable(self.types.unqualified(of)) {
            return Err(HarnessError(format!(
                "`{name}` has a structure without a name for its type, which the harness cannot write: \
                 give it a tag"
            )));
        }
        self.root(name, Role::Parameter, (of, tags), Place::Harness)
    }

    fn root(
        &mut self,
        name: &str,
        role: Role,
        (of, tags): (TypeId, &[String]),
        place: Place,
    ) -> Result<(), HarnessError> {
        let path = Path::root(name);
        let at = self.reserve(self.types.size(of), &path)?;
        let number = self.layout.roots.len();
        self.layout.roots.push(Root {
            name: name.to_string(),
            role,
            of,
            elements: 1,
            at,
            place,
        });
        let scene = Scene::new(Owner::Root(number), Vec::new(), tags.to_vec());
        self.place(of, &path, at, &scene)
    }

    /// What to say about a rule that is about nothing.
    fn useless(&self, rule: &crate::Rule) -> HarnessError {
        let names: Vec<String> = self
            .layout
            .roots
            .iter()
            .map(|root| root.name.clone())
            .collect();
        let word = rule.kind.word();
        let value = if rule.value.is_empty() {
            String::new()
        } else {
            format!("={}", rule.value)
        };
        let target = &rule.target;
        let exists = self.layout.leaves.iter().any(|leaf| leaf.name == *target)
            || self
                .layout
                .pointers
                .iter()
                .any(|p| p.path.to_string() == *target);
        let why = if exists {
            format!("that is nothing to say of `{target}`")
        } else {
            format!("there is no input `{target}`; there are {}", listed(&names))
        };
        HarnessError(format!("`--{word} {target}{value}`: {why}"))
    }
}

fn parameter_name(name: &str, place: usize) -> String {
    if name.is_empty() {
        format!("argument{}", place + 1)
    } else {
        name.to_string()
    }
}

fn or_default(value: u32, default: u32) -> u32 {
    if value == 0 { default } else { value }
}

/// Names in a sentence: `a`, `b`.
pub(crate) fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
