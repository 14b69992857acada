//! Writes what the run tells after the call: what the function gave back, blocks and globals.

use std::fmt::Write;

use nearmiss_results::Role;

use super::PLAIN;
use crate::plan::Plan;
use crate::rows;

/// Functions of every harness: memory that the recording knows is freed has no extent.
const TELL: &str = r#"
static PLAIN unsigned long nm_harness_extent(const void *nm_harness_at, unsigned long nm_harness_size)
{
    unsigned long nm_harness_known = __nm_extent ? __nm_extent(nm_harness_at) : ~0ul;
    if (__asan_region_is_poisoned && __asan_region_is_poisoned((void *)nm_harness_at, nm_harness_size))
        nm_harness_known = 0;
    return nm_harness_known;
}

static PLAIN void nm_harness_tell(const char *nm_harness_row, void *nm_harness_at, unsigned long nm_harness_size)
{
    if (nm_harness_extent(nm_harness_at, nm_harness_size) < nm_harness_size)
        nm_harness_size = 0;
    nearmiss_result(nm_harness_row, nm_harness_at, nm_harness_size);
}
"#;

impl Plan {
    /// Tells what the function gave back.
    pub(super) fn write_result(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "        nearmiss_result(\"{}\", &nm_harness_gave, sizeof nm_harness_gave);",
            rows::RESULT
        );
    }

    /// The functions that tell the rest.
    pub(super) fn write_results(&self, text: &mut String) {
        *text += &TELL.replace("PLAIN", PLAIN);
        self.write_made(text);
        let _ = writeln!(text, "\nstatic {PLAIN} void nm_harness_results(void)\n{{");
        let layout = &self.layout;
        if !layout.blocks.is_empty() {
            let bytes = layout.blocks.len() * 8;
            let row = rows::BLOCKS;
            let _ = writeln!(
                text,
                "    nearmiss_result(\"{row}\", nm_harness_block[0], {bytes}ul);"
            );
        }
        if !layout.stubs.is_empty() {
            let stubs =
                (0..layout.stubs.len()).map(|stub| format!("(void *){}", self.stub_symbol(stub)));
            let stubs: Vec<String> = stubs.collect();
            let _ = writeln!(
                text,
                "    void *nm_harness_stubs[] = {{ {} }};",
                stubs.join(", ")
            );
            let row = rows::STUBS;
            let _ = writeln!(
                text,
                "    nearmiss_result(\"{row}\", nm_harness_stubs, sizeof nm_harness_stubs);"
            );
        }
        for (number, block) in layout.blocks.iter().enumerate() {
            if !block.constant {
                let row = rows::block(number);
                let _ = writeln!(
                    text,
                    "    nm_harness_tell(\"{row}\", nm_harness_block[0][{number}], nm_harness_bytes[{number}]);"
                );
            }
        }
        for (number, root) in layout.roots.iter().enumerate() {
            if root.role == Role::Global {
                let (row, object) = (rows::global(number), self.object(number, "0"));
                let size = self.types.size(root.of);
                let _ = writeln!(text, "    nearmiss_result(\"{row}\", {object}, {size}ul);");
            }
        }
        *text += "}\n";
    }
}
