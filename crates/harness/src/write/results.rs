//! Writes what the run tells after the call: what the function gave back, blocks and globals.

use std::fmt::Write;

use nearmiss_results::Role;

use super::PLAIN;
use crate::plan::Plan;
use crate::rows;
use crate::types::Kind;

/// How much of the memory that a function gave back is told.
const MOST_BYTES: usize = 4096;

/// Functions of every harness; words in capitals are filled in. Memory that the recording knows is
/// freed has no extent; of what nobody knows one element is told.
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

static PLAIN void nm_harness_target(void *nm_harness_given, unsigned long nm_harness_size, int nm_harness_text)
{
    unsigned long nm_harness_address = __nm_concrete((unsigned long)nm_harness_given);
    const unsigned char *nm_harness_at = (const unsigned char *)nm_harness_address;
    unsigned long nm_harness_extent_of, nm_harness_n;
    if (nm_harness_address < 65536 || nm_harness_address >> 47)
        return;
    for (nm_harness_n = 0; nm_harness_n < BLOCKS; nm_harness_n++)
        if (nm_harness_address - (unsigned long)nm_harness_block[0][nm_harness_n] <= nm_harness_bytes[nm_harness_n])
            return;
    nm_harness_extent_of = nm_harness_extent(nm_harness_at, 1);
    if (nm_harness_extent_of == ~0ul && !nm_harness_text)
        nm_harness_extent_of = nm_harness_size;
    if (nm_harness_extent_of > MOST)
        nm_harness_extent_of = MOST;
    if (!nm_harness_text) {
        nm_harness_n = nm_harness_extent_of / nm_harness_size * nm_harness_size;
        if (nm_harness_n && nm_harness_extent(nm_harness_at, nm_harness_n))
            nearmiss_result("ELEMENTS", nm_harness_at, nm_harness_n);
        return;
    }
    for (nm_harness_n = 0; nm_harness_n < nm_harness_extent_of; nm_harness_n++) {
        if (!nm_harness_extent(nm_harness_at + nm_harness_n, 1))
            return;
        if (__nm_concrete(nm_harness_at[nm_harness_n]) == 0) {
            nearmiss_result("TEXT", nm_harness_at, nm_harness_n);
            return;
        }
    }
    nearmiss_result("ELEMENTS", nm_harness_at, nm_harness_n);
}
"#;

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
        let size = self.types.size(*target);
        if size > 0 && !matches!(self.types.kind(*target), Kind::Function(_)) {
            let is_text = u8::from(self.types.is_char(*target));
            let _ = writeln!(
                text,
                "        nm_harness_target((void *)nm_harness_gave, {size}ul, {is_text});"
            );
        }
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

    /// Functions that tell memory which may have been freed, or which the function made itself.
    fn write_target(&self, text: &mut String) {
        let names = [
            ("BLOCKS", self.layout.blocks.len().to_string()),
            ("MOST", MOST_BYTES.to_string()),
            ("ELEMENTS", rows::RESULT_TARGET.to_string()),
            ("TEXT", rows::RESULT_TEXT.to_string()),
            ("PLAIN", PLAIN.to_string()),
        ];
        let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
        *text += &names.iter().fold(TELL.to_string(), fill);
    }
}
