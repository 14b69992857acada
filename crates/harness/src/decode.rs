//! What a staging means, and what was there after the call: the plan's side of it.

use nearmiss_results::{Memory, Role, Value, Variable};

use crate::model::{Block, Count, Stub, Write};
use crate::plan::Plan;
use crate::values::Decoder;

impl Plan {
    /// What a staging means.
    pub fn decode(&self, staging: &[u8]) -> Memory {
        let mut decoder = Decoder::new(self, staging);
        let variables = self
            .layout
            .roots
            .iter()
            .filter(|root| root.role != Role::Stub);
        let mut variables: Vec<Variable> = variables
            .map(|root| Variable {
                name: root.name.clone(),
                role: root.role,
                ctype: self.types.spell(root.of),
                value: decoder.image(root.of, root.at),
            })
            .collect();
        for stub in &self.layout.stubs {
            let root = stub.root.map(|root| &self.layout.roots[root]);
            let size = root.map_or(0, |root| self.types.size(root.of) as usize);
            let results = root.map_or(Vec::new(), |root| {
                let calls = 0..root.elements as usize;
                calls
                    .map(|call| decoder.image(root.of, root.at + call * size))
                    .collect()
            });
            variables.push(Variable {
                name: stub.name(),
                role: Role::Stub,
                ctype: self.types.spell(stub.of),
                value: Value::Array(results),
            });
            for write in &stub.writes {
                variables.push(self.written(&mut decoder, stub, write));
            }
        }
        let blocks = decoder.blocks();
        Memory { variables, blocks }
    }
}

impl Plan {
    /// What a stub writes through a parameter: an array of elements for each call.
    fn written(&self, decoder: &mut Decoder<'_>, stub: &Stub, write: &Write) -> Variable {
        let root = &self.layout.roots[write.root];
        let size = self.types.size(root.of) as usize;
        let count = write.count as usize;
        let mut element = |number: usize| decoder.image(root.of, root.at + number * size);
        let calls = (0..root.elements as usize / count).map(|call| {
            let elements = (0..count).map(|index| element(call * count + index));
            Value::Array(elements.collect())
        });
        Variable {
            name: format!("{}.argument{}", stub.name(), write.parameter + 1),
            role: Role::Written,
            ctype: self.types.spell(root.of),
            value: Value::Array(calls.collect()),
        }
    }

    /// How many elements a block has in a staging; for a string how many bytes before its zero.
    pub(crate) fn elements(&self, block: &Block, staging: &[u8]) -> u64 {
        if let Count::Text = block.count {
            let text = &staging[block.at..block.at + block.most as usize];
            return text.iter().take_while(|byte| **byte != 0).count() as u64;
        }
        self.counted(&block.count, staging).min(block.most)
    }

    /// How many elements are behind the structure in a block.
    pub(crate) fn tail(&self, block: &Block, staging: &[u8]) -> u64 {
        let tail = block.tail.as_ref();
        tail.map_or(0, |tail| self.counted(&tail.count, staging).min(tail.most))
    }

    fn counted(&self, count: &Count, staging: &[u8]) -> u64 {
        let leaves = &self.layout.leaves;
        match count {
            Count::Fixed(count) => *count,
            Count::Own(leaf) => leaves[*leaf].read(staging) as u64,
            Count::Tied(formula) => {
                let value = formula.value(&|leaf| leaves[*leaf].read(staging));
                u64::try_from(value).unwrap_or(0)
            }
            Count::Text => 0,
        }
    }
}
