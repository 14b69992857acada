//! Writes what the run tells after the call: what the function gave back, blocks and globals.

use std::fmt::Write;

use nearmiss_results::Role;

use super::PLAIN;
use crate::plan::Plan;
use crate::rows;
use crate::types::Kind;

/// How much of a string that a function gave back is told.
const MOST_TEXT: usize = 4096;

impl Plan {
    /// Tells what the function gave back; if it is a pointer, also what that points to.
    pub(super) fn write_result(&self, text: &mut String) {
        let of = self.function.function.signature.result;
        let _ = writeln!(
            text,
            "        nearmiss_result(\"{}\", &nm_harness_gave, sizeof nm_harness_gave);",
            rows::RESULT
        );
        let Kind::Pointer(target) = self.types.kind(of) else {
            return;
        };
        let size = match self.types.kind(*target) {
            _ if self.types.is_char(*target) => 0,
            Kind::Void | Kind::Function(_) | Kind::Opaque => return,
            _ if self.types.size(*target) == 0 => return,
            _ => self.types.size(*target),
        };
        let _ = writeln!(
            text,
            "        nm_harness_target((void *)nm_harness_gave, {size}ul);"
        );
    }

    /// The functions that tell the rest.
    pub(super) fn write_results(&self, text: &mut String) {
        self.write_target(text);
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
                (0..layout.stubs.len()).map(|stub| format!("(void *)nm_harness_stub{stub}"));
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

    /// Memory that may be freed, or be none: an empty row says so.
    fn write_target(&self, text: &mut String) {
        let _ = write!(
            text,
            r#"
static {PLAIN} void nm_harness_tell(const char *nm_harness_row, void *nm_harness_at, unsigned long nm_harness_size)
{{
    if (__asan_region_is_poisoned && __asan_region_is_poisoned(nm_harness_at, nm_harness_size))
        nm_harness_size = 0;
    nearmiss_result(nm_harness_row, nm_harness_at, nm_harness_size);
}}

static {PLAIN} void nm_harness_target(void *nm_harness_given, unsigned long nm_harness_size)
{{
    unsigned long nm_harness_address = __nm_concrete((unsigned long)nm_harness_given);
    unsigned char *nm_harness_at = (unsigned char *)nm_harness_address;
    unsigned long nm_harness_n;
    if (nm_harness_address < 65536 || nm_harness_address >> 47)
        return;
    for (nm_harness_n = 0; nm_harness_n < {blocks}; nm_harness_n++)
        if (nm_harness_address - (unsigned long)nm_harness_block[0][nm_harness_n] <= nm_harness_bytes[nm_harness_n])
            return;
    if (nm_harness_size == 0) {{
        for (; nm_harness_size < {MOST_TEXT}; nm_harness_size++) {{
            if (__asan_region_is_poisoned && __asan_region_is_poisoned(nm_harness_at + nm_harness_size, 1))
                return;
            if (__nm_concrete(nm_harness_at[nm_harness_size]) == 0)
                break;
        }}
    }}
    nm_harness_tell("{row}", nm_harness_at, nm_harness_size);
}}
"#,
            blocks = self.layout.blocks.len(),
            row = rows::RESULT_TARGET,
        );
    }
}
