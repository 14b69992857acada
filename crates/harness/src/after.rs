//! What was there after the call, from the rows of a run.

use nearmiss_results::{Block as ShownBlock, Memory, Role, Value, Variable};

use crate::plan::Plan;
use crate::rows;
use crate::types::{Kind, TypeId};
use crate::values::Decoder;

impl Plan {
    /// What was there afterwards: `rows` are the results of a run on this staging.
    pub fn decode_results(&self, staging: &[u8], rows: &[(String, Vec<u8>)]) -> Memory {
        // Blocks keep the numbers that they have in what the function was given.
        let mut before = Decoder::new(self, staging);
        for root in &self.layout.roots {
            let size = self.types.size(root.of) as usize;
            for element in 0..root.elements as usize {
                before.image(root.of, root.at + element * size);
            }
        }
        before.blocks();
        let mut decoder = Decoder::new(self, staging);
        decoder.met = before.met;
        decoder.after = Some(rows::Rows::new(rows));
        let mut variables = decoder.variables_after();
        variables.extend(told(rows));
        let mut blocks = decoder.blocks();
        blocks.append(&mut decoder.made);
        Memory { variables, blocks }
    }
}

impl Decoder<'_> {
    fn variables_after(&mut self) -> Vec<Variable> {
        let plan = self.plan;
        let mut variables = Vec::new();
        for (number, root) in plan.layout.roots.iter().enumerate() {
            let row = self.row(&rows::global(number));
            let value = match (root.role, row) {
                (Role::Stub, _) => continue,
                (Role::Global, Some(bytes)) => self.value(root.of, &bytes, None),
                _ => self.image(root.of, root.at),
            };
            variables.push(Variable {
                name: root.name.clone(),
                role: root.role,
                ctype: plan.types.spell(root.of),
                value,
            });
        }
        let result = plan.function.function.signature.result;
        if let Some(bytes) = self.row(rows::RESULT) {
            variables.push(Variable {
                name: "result".into(),
                role: Role::Result,
                ctype: plan.types.spell(result),
                value: self.result(result, &bytes),
            });
        }
        variables
    }

    /// What the function gave back; if it points to memory of its own, with that memory.
    fn result(&mut self, of: TypeId, bytes: &[u8]) -> Value {
        let value = self.value(of, bytes, None);
        let (Value::Elsewhere, Kind::Pointer(target)) = (&value, self.plan.types.kind(of)) else {
            return value;
        };
        let types = &self.plan.types;
        let content = match (self.row(rows::RESULT_TEXT), self.row(rows::RESULT_TARGET)) {
            (Some(text), _) => Value::Text(text),
            (None, Some(bytes)) => self.array(*target, &bytes),
            (None, None) => return value,
        };
        self.made.push(ShownBlock {
            name: "result".into(),
            element: types.spell(*target),
            constant: types.is_qualified(*target, "const"),
            freed: false,
            content,
        });
        Value::Pointer {
            block: self.met.len() + self.made.len() - 1,
            index: 0,
        }
    }
}

/// What the program itself told.
fn told(rows: &[(String, Vec<u8>)]) -> impl Iterator<Item = Variable> {
    let own = rows.iter().filter(|(name, _)| !rows::is_ours(name));
    own.map(|(name, bytes)| Variable {
        name: name.clone(),
        role: Role::Told,
        ctype: format!("unsigned char [{}]", bytes.len()),
        value: Value::Bytes(bytes.clone()),
    })
}
