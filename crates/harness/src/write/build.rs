//! Writes how blocks and objects are made of the staging, and what is assumed of it.

use std::fmt::Write;

use super::PLAIN;
use crate::bounds::SIZES;
use crate::model::{Block, Count, Owner, Place, Pointer, Target};
use crate::operands::{self, STAGING};
use crate::plan::Plan;

impl Plan {
    /// What holds for all inputs.
    pub(super) fn write_assumptions(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\nstatic {PLAIN} void nm_harness_assumptions(void)\n{{"
        );
        for limit in self.layout.limits.values() {
            let leaf = &self.layout.leaves[limit.leaf];
            if let Some(condition) = operands::limit(leaf, &limit.allowed) {
                let _ = writeln!(
                    text,
                    "    nearmiss_assume({condition}); /* {} */",
                    leaf.name
                );
            }
        }
        for condition in &self.conditions {
            let _ = writeln!(text, "    nearmiss_assume({condition});");
        }
        *text += "}\n";
    }

    /// The function that makes everything: copy 0 for the call, copy 1 as it was before.
    pub(super) fn write_build(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\nstatic {PLAIN} void nm_harness_build(unsigned nm_harness_copy)\n{{"
        );
        *text += "    void **nm_harness_made = nm_harness_block[nm_harness_copy];\n";
        *text += "    unsigned long nm_harness_n, nm_harness_goes_on;\n";
        for (number, block) in self.layout.blocks.iter().enumerate() {
            self.write_block(text, number, block);
        }
        for (number, root) in self.layout.roots.iter().enumerate() {
            let size = self.types.size(root.of) * root.elements;
            let object = self.object(number, "nm_harness_copy");
            let _ = writeln!(
                text,
                "    __builtin_memcpy({object}, {STAGING} + {}, {size}ul);",
                root.at
            );
        }
        for pointer in &self.layout.pointers {
            self.write_pointer(text, pointer);
        }
        *text += "}\n";
    }

    /// The object of a root, as a pointer to bytes. `copy` is an expression: 1 is the old one.
    pub(super) fn object(&self, number: usize, copy: &str) -> String {
        let root = &self.layout.roots[number];
        let live = match root.place {
            Place::Harness => return format!("nm_harness_object{number}[{copy}]"),
            Place::Named => format!("(unsigned char *)&{}", root.name),
            Place::Foreign => format!("nm_harness_global{number}"),
        };
        match copy {
            "0" => live,
            "1" => format!("nm_harness_object{number}[1]"),
            _ => format!("({copy} ? nm_harness_object{number}[1] : {live})"),
        }
    }

    fn write_block(&self, text: &mut String, number: usize, block: &Block) {
        let size = block.size;
        let _ = writeln!(text, "    /* {} */", block.path);
        if let Count::Text = block.count {
            self.write_string(text, number, block);
            return;
        }
        let count = operands::count(&self.layout, &block.count, block.most);
        let tail = block.tail.as_ref().map(|tail| {
            let count = operands::count(&self.layout, &tail.count, tail.most);
            format!(" + {count} * {}ul", tail.size)
        });
        let tail = tail.unwrap_or_default();
        let _ = writeln!(text, "    nm_harness_n = {count} * {size}ul{tail};");
        let room_of_tail = block.tail.as_ref().map_or(0, |tail| tail.most * tail.size);
        self.make_block(text, number, block, block.most * size + room_of_tail);
    }

    /// A block of `nm_harness_n` bytes, with room for `capacity` where it is recorded.
    fn make_block(&self, text: &mut String, number: usize, block: &Block, capacity: u64) {
        let at = block.at;
        if self.needs_sizes() {
            let _ = writeln!(text, "    {SIZES}[{number}] = nm_harness_n;");
        }
        let _ = writeln!(
            text,
            "    nm_harness_bytes[{number}] = __nm_concrete(nm_harness_n);"
        );
        let _ = writeln!(
            text,
            "    nm_harness_made[{number}] = __nm_block({capacity}ul, nm_harness_n, {STAGING} + {at}, &nm_harness_room[{number}]);"
        );
    }

    /// A string ends with its first zero, which is an input like all bytes before it; the last
    /// byte that there is room for is always zero.
    fn write_string(&self, text: &mut String, number: usize, block: &Block) {
        let most = block.most;
        *text += "    nm_harness_n = 1;\n    nm_harness_goes_on = 1;\n";
        for position in (block.at..).take(most as usize) {
            let _ = writeln!(
                text,
                "    nm_harness_n += nm_harness_goes_on &= {STAGING}[{position}] != 0;"
            );
        }
        self.make_block(text, number, block, most + 1);
        let _ = writeln!(text, "    if (nm_harness_room[{number}] > {most}ul)");
        let _ = writeln!(
            text,
            "        ((char *)nm_harness_made[{number}])[{most}] = 0;"
        );
    }

    fn write_pointer(&self, text: &mut String, pointer: &Pointer) {
        let (object, start, guard) = match pointer.owner {
            Owner::Root(root) => {
                let object = self.object(root, "nm_harness_copy");
                (object, self.layout.roots[root].at, String::new())
            }
            Owner::Block(number) => {
                let block = &self.layout.blocks[number];
                let end = pointer.at - block.at + 8;
                let guard = format!("if ({end}ul <= nm_harness_room[{number}]) ");
                let object = format!("((unsigned char *)nm_harness_made[{number}])");
                (object, block.at, guard)
            }
        };
        let place = format!("*(nm_harness_pointer *)({object} + {})", pointer.at - start);
        let targets: Vec<String> = (pointer.targets.iter())
            .map(|target| self.target(target))
            .collect();
        let _ = write!(text, "    {guard}{{ ");
        if let [only] = targets.as_slice() {
            let _ = write!(text, "{place} = {only};");
        } else {
            let _ = write!(text, "void *nm_harness_table[{}]; ", targets.len());
            for (choice, target) in targets.iter().enumerate() {
                let _ = write!(text, "nm_harness_table[{choice}] = {target}; ");
            }
            let choice = format!("{STAGING}[{}]", pointer.at);
            let _ = write!(text, "{place} = *(nm_harness_table + {choice});");
        }
        let _ = writeln!(text, " }} /* {} */", pointer.path);
    }

    fn target(&self, target: &Target) -> String {
        match target {
            Target::Block(number) => format!("nm_harness_made[{number}]"),
            Target::Stub(number) => format!("(void *){}", self.stub_symbol(*number)),
            Target::Null => "(void *)0".into(),
        }
    }
}
