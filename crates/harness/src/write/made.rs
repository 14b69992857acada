//! Writes how memory that the function made is told: what pointers lead to, from its result, from blocks
//! and from globals.

use std::fmt::Write;

use nearmiss_results::Role;

use super::PLAIN;
use crate::plan::Plan;
use crate::rows;
use crate::types::TypeId;

/// How much of one object is told.
const MOST_BYTES: usize = 4096;
/// How many objects are told.
const MOST_OBJECTS: usize = 64;

/// Functions of every harness; words in capitals are filled in. Memory that the recording knows is
/// freed has no extent; memory that nobody knows is told only where the function itself gave it back,
/// one element of it.
const MADE: &str = r#"
struct nm_harness_object {
    unsigned long nm_harness_at, nm_harness_bytes, nm_harness_offset;
    unsigned nm_harness_type, nm_harness_text, nm_harness_source, nm_harness_depth;
};
static struct nm_harness_object nm_harness_objects[OBJECTS];
static unsigned nm_harness_count;

static PLAIN int nm_harness_is_known(unsigned long nm_harness_address)
{
    unsigned long nm_harness_n;
    if (nm_harness_address < 65536 || nm_harness_address >> 47)
        return 1;
    for (nm_harness_n = 0; nm_harness_n < BLOCKS; nm_harness_n++)
        if (nm_harness_address - (unsigned long)nm_harness_block[0][nm_harness_n] <= nm_harness_bytes[nm_harness_n])
            return 1;
    for (nm_harness_n = 0; nm_harness_n < nm_harness_count; nm_harness_n++) {
        struct nm_harness_object *nm_harness_o = &nm_harness_objects[nm_harness_n];
        if (nm_harness_address == nm_harness_o->nm_harness_at
            || nm_harness_address - nm_harness_o->nm_harness_at < nm_harness_o->nm_harness_bytes)
            return 1;
    }
    return 0;
}

static PLAIN void nm_harness_made(struct nm_harness_object nm_harness_o)
{
    const struct nm_harness_type *nm_harness_t = &nm_harness_types[nm_harness_o.nm_harness_type];
    const unsigned char *nm_harness_at = (const unsigned char *)nm_harness_o.nm_harness_at;
    unsigned long nm_harness_known, nm_harness_n = 0;
    if (nm_harness_is_known(nm_harness_o.nm_harness_at) || nm_harness_count == OBJECTS)
        return;
    nm_harness_known = nm_harness_extent(nm_harness_at, 1);
    if (nm_harness_known == ~0ul && nm_harness_o.nm_harness_source != 0)
        return;
    if (nm_harness_known == ~0ul && !nm_harness_t->nm_harness_text)
        nm_harness_known = nm_harness_t->nm_harness_size;
    if (nm_harness_known > MOST)
        nm_harness_known = MOST;
    if (nm_harness_t->nm_harness_text) {
        while (nm_harness_n < nm_harness_known && nm_harness_extent(nm_harness_at + nm_harness_n, 1)
               && __nm_concrete(nm_harness_at[nm_harness_n]) != 0)
            nm_harness_n++;
        nm_harness_o.nm_harness_text = nm_harness_n < nm_harness_known;
    } else if (nm_harness_t->nm_harness_open && nm_harness_known >= nm_harness_t->nm_harness_size) {
        nm_harness_n = nm_harness_known;
    } else {
        nm_harness_n = nm_harness_known / nm_harness_t->nm_harness_size * nm_harness_t->nm_harness_size;
    }
    if (!nm_harness_n && !nm_harness_o.nm_harness_text)
        return;
    if (nm_harness_n && !nm_harness_extent(nm_harness_at, nm_harness_n))
        return;
    nm_harness_o.nm_harness_bytes = nm_harness_n;
    nm_harness_objects[nm_harness_count++] = nm_harness_o;
}

static PLAIN void nm_harness_look(const void *nm_harness_start, unsigned long nm_harness_size,
                                  struct nm_harness_object nm_harness_o)
{
    const struct nm_harness_type *nm_harness_t = &nm_harness_types[nm_harness_o.nm_harness_type];
    unsigned long nm_harness_at, nm_harness_depth = nm_harness_o.nm_harness_depth;
    unsigned nm_harness_n;
    for (nm_harness_at = 0; nm_harness_at + nm_harness_t->nm_harness_size <= nm_harness_size;
         nm_harness_at += nm_harness_t->nm_harness_open ? nm_harness_size : nm_harness_t->nm_harness_size)
        for (nm_harness_n = nm_harness_t->nm_harness_first; nm_harness_n < nm_harness_t->nm_harness_end; nm_harness_n++) {
            const struct nm_harness_edge *nm_harness_e = &nm_harness_edges[nm_harness_n];
            nm_harness_o.nm_harness_offset = nm_harness_at + nm_harness_e->nm_harness_offset;
            nm_harness_o.nm_harness_at = __nm_concrete(
                *(nm_harness_u8 *)((const unsigned char *)nm_harness_start + nm_harness_o.nm_harness_offset));
            nm_harness_o.nm_harness_type = nm_harness_e->nm_harness_to;
            nm_harness_o.nm_harness_depth = nm_harness_depth + nm_harness_e->nm_harness_deeper;
            if (nm_harness_o.nm_harness_depth <= DEPTH)
                nm_harness_made(nm_harness_o);
        }
}

static PLAIN void nm_harness_start(const void *nm_harness_at, unsigned long nm_harness_size,
                                   unsigned nm_harness_type, unsigned nm_harness_source)
{
    struct nm_harness_object nm_harness_o = { 0, 0, 0, 0, 0, 0, 0 };
    nm_harness_o.nm_harness_type = nm_harness_type;
    nm_harness_o.nm_harness_source = nm_harness_source;
    if (nm_harness_size && nm_harness_extent(nm_harness_at, nm_harness_size) >= nm_harness_size)
        nm_harness_look(nm_harness_at, nm_harness_size, nm_harness_o);
}

static PLAIN void nm_harness_tell_made(void)
{
    static const char *const nm_harness_rows[] = { ROWS };
    unsigned nm_harness_n;
    for (nm_harness_n = 0; nm_harness_n < nm_harness_count; nm_harness_n++) {
        struct nm_harness_object nm_harness_o = nm_harness_objects[nm_harness_n];
        const void *nm_harness_at = (const void *)nm_harness_o.nm_harness_at;
        nm_harness_o.nm_harness_source = SOURCES + nm_harness_n;
        if (!nm_harness_o.nm_harness_text)
            nm_harness_look(nm_harness_at, nm_harness_o.nm_harness_bytes, nm_harness_o);
        nearmiss_result(nm_harness_rows[nm_harness_n], nm_harness_at, nm_harness_o.nm_harness_bytes);
    }
    nearmiss_result("MADE", nm_harness_objects, nm_harness_count * sizeof nm_harness_objects[0]);
}
"#;

impl Plan {
    /// Whether anything leads to memory that the function may have made.
    fn makes(&self) -> bool {
        let mut types = self.reach.types.iter();
        types.any(|reached| !reached.edges.is_empty())
    }

    /// The functions that tell it, and what they know of types.
    pub(super) fn write_made(&self, text: &mut String) {
        if !self.makes() {
            return;
        }
        let (mut types, mut edges, mut first) = (String::new(), String::new(), 0);
        for reached in &self.reach.types {
            let end = first + reached.edges.len();
            let _ = write!(
                types,
                "\n    {{ {}ul, {first}, {end}, {}, {} }},",
                reached.size,
                u8::from(reached.text),
                u8::from(reached.open)
            );
            for edge in &reached.edges {
                let deeper = u8::from(edge.deeper);
                let _ = write!(
                    edges,
                    "\n    {{ {}ul, {}, {deeper} }},",
                    edge.offset, edge.to
                );
            }
            first = end;
        }
        let _ = write!(
            text,
            "\nstatic const struct nm_harness_type {{\n    \
             unsigned long nm_harness_size;\n    \
             unsigned nm_harness_first, nm_harness_end, nm_harness_text, nm_harness_open;\n\
             }} nm_harness_types[] = {{{types}\n}};\n\
             static const struct nm_harness_edge {{\n    \
             unsigned long nm_harness_offset;\n    \
             unsigned nm_harness_to, nm_harness_deeper;\n\
             }} nm_harness_edges[] = {{{edges}\n}};\n"
        );
        let names: Vec<String> = (0..MOST_OBJECTS)
            .map(|number| format!("\"{}\"", rows::made(number)))
            .collect();
        let words = [
            ("OBJECTS", MOST_OBJECTS.to_string()),
            ("BLOCKS", self.layout.blocks.len().to_string()),
            ("SOURCES", self.sources().to_string()),
            ("MOST", MOST_BYTES.to_string()),
            ("DEPTH", self.depth.to_string()),
            ("ROWS", names.join(", ")),
            ("MADE", rows::MADE.to_string()),
            ("PLAIN", PLAIN.to_string()),
        ];
        let fill = |text: String, (word, value): &(&str, String)| text.replace(word, value);
        *text += &words.iter().fold(MADE.to_string(), fill);
    }

    /// Where the search starts.
    pub(super) fn write_starts(&self, text: &mut String, gives: bool) {
        if !self.makes() {
            return;
        }
        let mut start = |object: String, size: String, of: TypeId, source: usize| {
            if let Some(number) = self.leads_on(of) {
                let _ = writeln!(
                    text,
                    "        nm_harness_start({object}, {size}, {number}, {source});"
                );
            }
        };
        if gives {
            let result = self.function.function.signature.result;
            let size = "sizeof nm_harness_gave".to_string();
            start("&nm_harness_gave".into(), size, result, 0);
        }
        for (number, block) in self.layout.blocks.iter().enumerate() {
            if !block.constant {
                let object = format!("nm_harness_block[0][{number}]");
                let size = format!("nm_harness_bytes[{number}]");
                start(object, size, block.element, 1 + number);
            }
        }
        for (number, root) in self.layout.roots.iter().enumerate() {
            if root.role == Role::Global {
                let size = format!("{}ul", self.types.size(root.of));
                let source = 1 + self.layout.blocks.len() + number;
                start(self.object(number, "0"), size, root.of, source);
            }
        }
        *text += "        nm_harness_tell_made();\n";
    }

    /// The number of a type that has pointers in it.
    fn leads_on(&self, of: TypeId) -> Option<usize> {
        let bare = self.types.bare(of);
        let mut types = self.reach.types.iter();
        let is_it = |reached: &crate::reach::Reached| {
            self.types.bare(reached.of) == bare && !reached.edges.is_empty()
        };
        types.position(is_it)
    }
}
