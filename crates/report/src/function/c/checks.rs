//! What stands behind the call: comparisons with what was observed.

use nearmiss_results::{Block, Memory, Role, Value};

use super::check::Check;
use super::inputs::scalar;
use super::literal;
use super::place::Place;
use super::scene::{Scene, content_of};
use crate::function::ctype;

/// So many numbers are compared one by one; more of them all at once.
const ONE_BY_ONE: usize = 6;

/// The comparisons, and declarations that they need.
#[derive(Debug, Default)]
pub struct Checks {
    /// Arrays of expected values.
    pub declarations: Vec<String>,
    /// The comparisons, in their order.
    pub checks: Vec<Check>,
}

impl Checks {
    /// Result, globals, then what the function may have written.
    pub fn of(scene: &mut Scene<'_>, after: &Memory) -> Checks {
        let mut checks = Checks::default();
        for role in [Role::Result, Role::Global] {
            for variable in after.variables.iter().filter(|it| it.role == role) {
                let place = match role {
                    Role::Result => Place::Object(scene.result.clone()),
                    _ => Place::Object(variable.name.clone()),
                };
                checks.value(scene, &place, &variable.value, &variable.ctype);
            }
        }
        let given = scene.test.before.blocks.len();
        for (number, block) in after.blocks.iter().enumerate() {
            if number < given && !block.constant && !block.freed {
                checks.block(scene, number, block);
            } else if number >= given && !block.freed {
                let mut made = Checks::default();
                made.block(scene, number, block);
                // An address that has no name may be none that was ever written.
                made.checks
                    .retain(|check| !matches!(check, Check::NotNull(_)));
                checks.declarations.append(&mut made.declarations);
                checks.checks.append(&mut made.checks);
            }
        }
        checks
    }

    fn block(&mut self, scene: &mut Scene<'_>, number: usize, block: &Block) {
        let Some(place) = scene.place(number) else {
            return;
        };
        let (place, content) = content_of(block, place);
        match content {
            Value::Array(items) if is_long(items) => {
                self.all_at_once(scene, &place, items, &block.element)
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(scene, &place.element(index), item, &block.element);
                }
            }
            Value::Text(text) => {
                let pointer = pointer_to(&place);
                self.text(&pointer, text, ctype::is_character(&block.element));
            }
            Value::Bytes(bytes) => self.memory(&pointer_to(&place), bytes),
            content => self.value(scene, &place, content, &block.element),
        }
    }

    /// Many numbers: an array of what is expected, compared byte by byte.
    fn all_at_once(
        &mut self,
        scene: &mut Scene<'_>,
        place: &Place,
        items: &[Value],
        element: &str,
    ) {
        let pointer = pointer_to(place);
        let expected = scene.fresh(&format!("expected_{pointer}"));
        let element = ctype::unqualified(element);
        let declared = ctype::declare(&element, &format!("{expected}[{}]", items.len()));
        let value = nested(items, &element);
        self.declarations
            .push(format!("static const {declared} = {value};"));
        self.checks.push(Check::Memory {
            actual: pointer,
            size: format!("sizeof {expected}"),
            expected,
        });
    }

    fn value(&mut self, scene: &Scene<'_>, place: &Place, value: &Value, ctype: &str) {
        let actual = place.value();
        match value {
            Value::Integer { value: number, .. } => self.checks.push(Check::Integer {
                actual,
                expected: scalar(scene, value, ctype),
                value: *number,
            }),
            Value::Float { size, bits } => self.checks.push(float(&actual, *size, *bits)),
            Value::Structure(members) => {
                for (name, value) in members {
                    self.value(scene, &place.member(name), value, "");
                }
            }
            Value::Array(items) => {
                let ctype = ctype::of_element(ctype);
                for (index, item) in items.iter().enumerate() {
                    self.value(scene, &place.element(index), item, ctype);
                }
            }
            Value::Text(text) => self.text(&actual, text, false),
            Value::Bytes(bytes) => self.memory(&place.address(), bytes),
            Value::Null => self.checks.push(Check::Null(actual)),
            Value::Elsewhere => self.checks.push(Check::NotNull(actual)),
            Value::Unset => {}
            Value::Function(name) => {
                let expected = scene.function(name);
                self.checks
                    .push(Check::Truth(format!("{actual} == {expected}")));
            }
            Value::Pointer { block, index } => {
                self.checks.push(match scene.pointer(*block, *index) {
                    Some(expected) if expected != actual => Check::Pointer { actual, expected },
                    _ => Check::NotNull(actual),
                });
            }
        }
    }

    fn text(&mut self, actual: &str, text: &[u8], is_plain: bool) {
        let actual = match is_plain {
            true => actual.to_string(),
            false => format!("(const char *){actual}"),
        };
        let expected = literal::string(text);
        self.checks.push(Check::Text { actual, expected });
    }

    fn memory(&mut self, actual: &str, bytes: &[u8]) {
        self.checks.push(Check::Memory {
            actual: actual.to_string(),
            expected: literal::string(bytes),
            size: bytes.len().to_string(),
        });
    }
}

/// What decays to a pointer to the first element.
fn pointer_to(place: &Place) -> String {
    match place {
        Place::Object(text) | Place::Behind(text) => text.clone(),
    }
}

fn float(actual: &str, size: u8, bits: u64) -> Check {
    let expected = literal::float(size, bits);
    let kind = if size == 4 { "float" } else { "double" };
    Check::Truth(match literal::is_nan(size, bits) {
        true => format!("nearmiss_is_nan({actual})"),
        false => format!("nearmiss_same_{kind}({actual}, {expected})"),
    })
}

fn is_long(items: &[Value]) -> bool {
    fn numbers(value: &Value) -> Option<usize> {
        match value {
            Value::Integer { .. } => Some(1),
            Value::Array(items) => items.iter().map(numbers).sum(),
            _ => None,
        }
    }
    let count: Option<usize> = items.iter().map(numbers).sum();
    count.is_some_and(|count| count > ONE_BY_ONE)
}

fn nested(items: &[Value], ctype: &str) -> String {
    let ctype = ctype::of_element(ctype);
    let shown = items.iter().map(|item| match item {
        Value::Integer { value, name } => literal::integer(*value, name.as_deref(), ctype),
        Value::Array(items) => nested(items, ctype),
        _ => "0".into(),
    });
    format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
}
