//! What was there after the call, from the rows of a run.

use nearmiss_results::{Block as ShownBlock, Memory, Role, Value, Variable};

use crate::model::Count;
use crate::path::{Path, Step};
use crate::plan::Plan;
use crate::rows;
use crate::types::TypeId;
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
        let all = rows::Rows::new(rows);
        decoder.made = all.made();
        decoder.after = Some(all);
        let mut variables = decoder.variables_after();
        variables.extend(told(rows));
        let mut blocks = decoder.blocks();
        blocks.extend(decoder.made_blocks());
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
                value: self.value(result, &bytes, None),
            });
        }
        variables
    }

    /// What a pointer points to that leads to none of the harness's blocks.
    pub fn pointed_to_made(&self, address: u64) -> Value {
        let holds = |made: &&rows::Made<'_>| {
            let offset = address.wrapping_sub(made.address);
            offset == 0 || offset < made.content.len() as u64
        };
        let Some(number) = self.made.iter().position(|made| holds(&made)) else {
            return Value::Elsewhere;
        };
        let made = self.made[number];
        let offset = address - made.address;
        let size = self.plan.reach.types[made.of].size.max(1);
        match offset % size {
            0 => Value::Pointer {
                block: self.met.len() + number,
                index: offset / size,
            },
            _ => Value::Elsewhere,
        }
    }

    fn made_blocks(&mut self) -> Vec<ShownBlock> {
        let mut paths: Vec<Path> = Vec::new();
        let mut blocks = Vec::new();
        for made in self.made.clone() {
            let of = self.plan.reach.types[made.of].of;
            let path = self.plan.path_to(&made, &paths, &self.made);
            let types = &self.plan.types;
            let (element, constant) = (types.spell(of), types.is_qualified(of, "const"));
            blocks.push(ShownBlock {
                name: path.to_string(),
                element,
                constant,
                freed: false,
                content: self.made_content(of, &made),
            });
            paths.push(path);
        }
        blocks
    }

    fn made_content(&mut self, of: TypeId, made: &rows::Made<'_>) -> Value {
        if made.text {
            return Value::Text(made.content.to_vec());
        }
        self.is_new = true;
        let Some(open) = self.plan.types.tail(of) else {
            return self.array(of, made.content);
        };
        let behind = (made.content.len() as u64).saturating_sub(open.offset);
        self.tail = behind / self.plan.types.size(open.element).max(1);
        Value::Array(vec![self.value(of, made.content, None)])
    }
}

impl Plan {
    /// How the source would call the pointer that leads to what the function made. `paths` are those of
    /// what was found before.
    fn path_to(&self, made: &rows::Made<'_>, paths: &[Path], all: &[rows::Made<'_>]) -> Path {
        let blocks = 1..=self.layout.blocks.len();
        let roots = blocks.end() + 1..self.sources();
        let (source, offset) = (made.source, made.offset);
        if source == 0 {
            let result = self.function.function.signature.result;
            return self.types.path_of(result, Path::root("result"), offset);
        }
        if roots.contains(&source) {
            let root = &self.layout.roots[source - roots.start];
            return self.types.path_of(root.of, Path::root(&root.name), offset);
        }
        let (pointer, of, is_one) = if blocks.contains(&source) {
            let block = &self.layout.blocks[source - blocks.start()];
            let is_one = matches!(block.count, Count::Fixed(1));
            (block.path.clone(), block.element, is_one)
        } else {
            let outer = source - roots.end;
            let Some((path, outer)) = paths.get(outer).zip(all.get(outer)) else {
                return Path::root("result");
            };
            let of = &self.reach.types[outer.of];
            let is_one = of.open || outer.content.len() as u64 == of.size;
            (path.clone(), of.of, is_one)
        };
        let size = self.types.size(of).max(1);
        match is_one {
            true => self.types.path_of(of, pointer.then(Step::Target), offset),
            false => {
                let path = pointer.then(Step::Index(offset / size));
                self.types.path_of(of, path, offset % size)
            }
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
