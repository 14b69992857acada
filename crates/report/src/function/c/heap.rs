//! Blocks from `malloc`, for functions that free some of them.

use nearmiss_results::{Block, Value};

use super::inputs::{Inputs, copy, count, element_type};
use super::literal;
use super::place::Place;
use super::scene::content_of;
use crate::function::ctype;

impl Inputs<'_> {
    /// Every block, then what is in it: by then all of them can be pointed to.
    pub fn allocate(&mut self) {
        let blocks = &self.scene.test.before.blocks;
        for (number, block) in blocks.iter().enumerate() {
            if let Some(name) = self.scene.block_name(number) {
                self.statements.push(allocation(name, block));
            }
        }
        for (number, block) in blocks.iter().enumerate() {
            if let Some(place) = self.scene.place(number) {
                self.fill(block, place);
            }
        }
    }

    fn fill(&mut self, block: &Block, place: Place) {
        let element = element_type(block, true);
        let (place, content) = content_of(block, place);
        let target = place.value();
        let statement = match content {
            Value::Structure(_) => {
                let value = self.initialiser(content, &element, &place);
                value.map(|value| format!("{target} = ({element}){value};"))
            }
            Value::Text(text) => {
                let size = text.len() + 1;
                Some(format!(
                    "memcpy({target}, {}, {size});",
                    literal::string(text)
                ))
            }
            Value::Bytes(bytes) => Some(copy(&target, bytes)),
            Value::Array(items) => match items.as_slice() {
                [only] if !matches!(only, Value::Structure(_) | Value::Array(_)) => {
                    let value = self.initialiser(only, &element, &place.element(0));
                    value.map(|value| format!("{target}[0] = {value};"))
                }
                items => {
                    let whole = ctype::declare(&element, &format!("[{}]", items.len()));
                    let value = self.initialiser(content, &element, &place);
                    value.map(|value| {
                        format!("memcpy({target}, ({whole}){value}, sizeof({whole}));")
                    })
                }
            },
            _ => None,
        };
        self.statements.extend(statement);
    }
}

/// `struct node *list = malloc(sizeof *list);`
fn allocation(name: &str, block: &Block) -> String {
    let element = element_type(block, true);
    let pointer = match element.contains(['(', '[']) {
        true => ctype::declare(&element, &format!("(*{name})")),
        false => ctype::declare(&ctype::pointer_to(&element), name),
    };
    match count(block) {
        1 => format!("{pointer} = malloc(sizeof *{name});"),
        more => format!("{pointer} = malloc({more} * sizeof *{name});"),
    }
}
