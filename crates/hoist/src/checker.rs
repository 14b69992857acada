//! Contracts as C code that is called where functions are entered.
//!
//! The code never branches on what depends on input: a contract adds a check to the path, and no way. What is not
//! there (a member behind a null pointer) is 0. Each requirement has a column of its own at the line of its function, so
//! that places tell them apart.

use std::fmt::Write;

use nearmiss_contracts::{Attribute, Comparison, Contract, Formula, Term};
use nearmiss_harness::Unit;
use nearmiss_harness::entry::{Access, Base, Definition, Leaf};
use nearmiss_sites::rewrite::Argument;

use crate::typed::{self, Found};

/// How the functions of the code are called: this, a number, and the name of the function whose contract it is.
pub use nearmiss_abi::check::CONTRACT_PREFIX;

/// Declarations and helpers for all checks.
const HEAD: &str = r#"/* Written by nearmiss: contracts as checks. */
extern int __nm_contracts_wanted(void);
extern int __nm_readable(const void *memory, unsigned long size);
extern long long __nm_bounds(const void *pointer, unsigned long element);
extern long long __nm_before(const void *pointer, unsigned long element);
extern long long __nm_open_end(const void *start, unsigned long length);
extern long long __nm_plain_end(const void *start, unsigned long byte, unsigned long most);
extern unsigned long __nm_concrete(unsigned long value);
extern void __nm_precondition(int holds, const char *place, const char *text, int is_assumed);
/* In variants in which the calls of unit tests are inputs. */
extern int __nm_call_is_boundary(const char *function) __attribute__((weak));
extern void __nm_call_excluded(void) __attribute__((weak));
typedef __int128 wide;

__attribute__((unused)) static int __nm_requires_assumed(const char *function)
{
    return __nm_call_is_boundary != 0 && __nm_call_is_boundary(function);
}

__attribute__((unused)) static void __nm_requires_excludes(int assumed, int holds)
{
    if (assumed && !__nm_concrete((unsigned)holds) && __nm_call_excluded != 0)
        __nm_call_excluded();
}

__attribute__((unused)) static long long __nm_requires_find(const char *pointer, char byte, long long most)
{
    const char *p = (const char *)__nm_concrete((unsigned long)pointer);
    long long limit = (long long)__nm_concrete((unsigned long)most), end = 0, open = 1, found = 0;
    if (p == 0 || limit > 4096)
        limit = p == 0 ? 0 : 4096;
    /* Nearly always nothing there depends on input. */
    long long plain = __nm_plain_end(p, (unsigned char)byte, (unsigned long)limit);
    if (plain >= 0)
        return plain;
    while (end < limit && (char)__nm_concrete((unsigned char)p[end]) != byte)
        end++;
    long long whole = byte == 0 && end < limit ? __nm_open_end(p, (unsigned long)end) : -1;
    int is_whole = (long long)__nm_concrete((unsigned long)whole) >= 0;
    /* A few more: the byte that ends it now may be another one. */
    limit = is_whole ? end : limit < end + 9 ? limit : end + 9;
    for (long long i = 0; i < limit; i++) {
        open &= p[i] != byte;
        found += open;
    }
    if (!is_whole)
        return found;
    /* As long as its input, unless a zero comes before. */
    return (found < end) & (found < whole) ? found : whole;
}
"#;

/// The code of one contract, and what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The C function.
    pub name: String,
    /// The parameters that it is given.
    pub arguments: Vec<Argument>,
    /// The globals whose addresses it is given behind them.
    pub globals: Vec<String>,
    /// Its text.
    code: String,
}

/// The C file with these checks.
pub fn file(checks: &[Check]) -> String {
    let mut text = HEAD.to_string();
    checks.iter().for_each(|check| text += &check.code);
    text
}

/// The code of a contract; `number` tells contracts apart, `place` is where the function is defined, as reports are to
/// name it.
pub fn check(
    unit: &Unit,
    function: &Definition,
    contract: &Contract,
    number: usize,
    (file, line): (&str, u32),
) -> Result<Check, String> {
    let mut writer = Writer {
        unit,
        function,
        terms: Vec::new(),
        arguments: Vec::new(),
        globals: Vec::new(),
        body: String::new(),
        next: 0,
    };
    let mut calls = String::new();
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    for (column, formula) in contract.requires.iter().enumerate() {
        typed::kind(unit, function, formula)?;
        let condition = writer.truth(formula)?;
        let holds = writer.new_name('r');
        writer.line(&format!("int {holds} = {condition};"));
        let place = format!("{}:{line}:{}", escaped(file), column + 1);
        let pad = " ".repeat(column);
        let words = escaped(&formula.to_string());
        let _ = write!(
            calls,
            "#line {line} \"{}\"\n{pad}__nm_precondition({holds}, \"{place}\", \"{}: {words}\", assumed);\n{CONTRACT_PREFIX}excludes(assumed, {holds});\n",
            escaped(file),
            function.name
        );
    }
    let name = format!("{CONTRACT_PREFIX}{number}_{}", function.name);
    let body = &writer.body;
    let parameters = writer.parameters();
    let code = format!(
        "\nvoid {name}({parameters})\n{{\n    if (!__nm_contracts_wanted())\n        return;\n    int assumed = {CONTRACT_PREFIX}assumed(\"{}\");\n{body}{calls}}}\n",
        function.name
    );
    Ok(Check {
        name,
        arguments: writer.arguments,
        globals: writer.globals,
        code,
    })
}

struct Writer<'a> {
    unit: &'a Unit,
    function: &'a Definition,
    /// What is computed already, and the variable that holds it.
    terms: Vec<(Term, String)>,
    arguments: Vec<Argument>,
    globals: Vec<String>,
    body: String,
    next: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "    {text}");
    }

    fn new_name(&mut self, letter: char) -> String {
        self.next += 1;
        format!("{letter}{}", self.next)
    }

    /// A formula as a truth in C.
    fn truth(&mut self, formula: &Formula) -> Result<String, String> {
        Ok(match formula {
            Formula::Compare(comparison, left, right) => {
                let sign = sign(*comparison);
                let (left, right) = (self.number(left)?, self.number(right)?);
                format!("({left} {sign} {right})")
            }
            Formula::All(parts) => self.joined(parts, " & ", "1")?,
            Formula::Any(parts) => self.joined(parts, " | ", "0")?,
            Formula::Not(inner) => format!("(!{})", self.truth(inner)?),
            other => format!("({} != 0)", self.number(other)?),
        })
    }

    fn joined(&mut self, parts: &[Formula], between: &str, none: &str) -> Result<String, String> {
        let parts: Result<Vec<String>, String> =
            parts.iter().map(|part| self.truth(part)).collect();
        let parts = parts?;
        Ok(match parts.is_empty() {
            true => none.to_string(),
            false => format!("({})", parts.join(between)),
        })
    }

    /// A formula as a number in C, wide enough for every value.
    fn number(&mut self, formula: &Formula) -> Result<String, String> {
        let binary = |this: &mut Self, sign: &str, left: &Formula, right: &Formula| {
            let (left, right) = (this.number(left)?, this.number(right)?);
            Ok::<String, String>(format!("((wide){left} {sign} {right})"))
        };
        Ok(match formula {
            Formula::Number(number) => format!("{number}LL"),
            Formula::Null => "0LL".into(),
            Formula::Term(term) => self.term(term)?,
            Formula::Add(left, right) => binary(self, "+", left, right)?,
            Formula::Subtract(left, right) => binary(self, "-", left, right)?,
            Formula::Multiply(left, right) => binary(self, "*", left, right)?,
            Formula::Remainder(left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                format!("({right} ? (wide){left} % {right} : (wide){left})")
            }
            Formula::BitAnd(left, right) => binary(self, "&", left, right)?,
            other => self.truth(other)?,
        })
    }

    fn term(&mut self, term: &Term) -> Result<String, String> {
        if let Some((_, known)) = self.terms.iter().find(|(known, _)| known == term) {
            return Ok(known.clone());
        }
        let found = typed::find(self.unit, self.function, &term.place)?;
        let value = self.value(term, &found)?;
        self.terms.push((term.clone(), value.clone()));
        Ok(value)
    }

    fn value(&mut self, term: &Term, found: &Found) -> Result<String, String> {
        let name = self.new_name('t');
        if let (Attribute::Value, Leaf::Integer { signed, bytes }) =
            (term.attribute, &found.place.leaf)
        {
            let (ty, holder) = (c_type(*signed, *bytes), holder(*signed, *bytes));
            let (memory, there) = self.memory(found, *bytes)?;
            self.line(&format!(
                "{holder} {name} = {there} ? *(const {ty} *)({memory}) : 0;"
            ));
            return Ok(name);
        }
        let pointer = self.pointer(found)?;
        let count = match &found.place.leaf {
            Leaf::Pointer { element, .. } => format!("__nm_bounds({pointer}, {element})"),
            Leaf::Array { count, .. } => format!("{count}LL"),
            _ => return Err(format!("{term} is no pointer")),
        };
        let value = match term.attribute {
            Attribute::Value => format!("(long long){pointer}"),
            Attribute::Bounds => count,
            Attribute::Before => {
                let element = match &found.place.leaf {
                    Leaf::Pointer { element, .. } => *element,
                    _ => 1,
                };
                format!("__nm_before({pointer}, {element})")
            }
            Attribute::Find(byte) => {
                format!("{CONTRACT_PREFIX}find({pointer}, (char){byte}, {count})")
            }
            Attribute::Least | Attribute::Greatest => {
                return self.extreme(term, found, &pointer, &count);
            }
        };
        self.line(&format!("long long {name} = {value};"));
        Ok(name)
    }

    /// The least or the greatest element.
    fn extreme(
        &mut self,
        term: &Term,
        found: &Found,
        pointer: &str,
        count: &str,
    ) -> Result<String, String> {
        let elements = self.unit.elements(&found.place);
        let (signed, bytes) = elements.ok_or_else(|| format!("{term} has no numbers"))?;
        let (ty, name, most) = (
            c_type(signed, bytes),
            self.new_name('t'),
            self.new_name('n'),
        );
        let sign = match term.attribute {
            Attribute::Least => '<',
            _ => '>',
        };
        let holder = holder(signed, bytes);
        self.line(&format!(
            "long long {most} = (long long)__nm_concrete((unsigned long)({count}));"
        ));
        self.line(&format!(
            "{holder} {name} = {most} > 0 ? *(const {ty} *){pointer} : 0;"
        ));
        self.line(&format!(
            "for (long long i = 1; i < {most} && i < 4096; i++) {{"
        ));
        self.line(&format!("    {holder} e = ((const {ty} *){pointer})[i];"));
        self.line(&format!("    {name} = e {sign} {name} ? e : {name};"));
        self.line("}");
        Ok(name)
    }

    /// The pointer at a place, or the address of an array there: 0 if it is not there.
    fn pointer(&mut self, found: &Found) -> Result<String, String> {
        let name = self.new_name('p');
        let is_array = matches!(found.place.leaf, Leaf::Array { .. });
        let (memory, there) = self.memory(found, if is_array { 1 } else { 8 })?;
        let value = match is_array {
            true => format!("(char *)({memory})"),
            false => format!("*(char **)({memory})"),
        };
        self.line(&format!("char *{name} = {there} ? {value} : 0;"));
        Ok(name)
    }

    /// The address of a place, and whether `bytes` bytes are there: two C expressions.
    fn memory(&mut self, found: &Found, bytes: u64) -> Result<(String, String), String> {
        let mut index = String::new();
        if let Some(place) = &found.index {
            let Leaf::Integer {
                signed,
                bytes: size,
            } = place.leaf
            else {
                return Err("an index that is no number".into());
            };
            let number = Found {
                place: place.clone(),
                index: None,
            };
            let (memory, there) = self.memory(&number, size)?;
            let ty = c_type(signed, size);
            index = format!(" + (long)({there} ? *(const {ty} *)({memory}) : 0) * {bytes}L");
        }
        let Access {
            base,
            pointers,
            offset,
        } = &found.place.access;
        let (mut memory, mut there) = self.base(base);
        for (number, at) in pointers.iter().enumerate() {
            let (next, known) = (self.new_name('q'), self.new_name('k'));
            let here = format!("{memory} + {at}");
            match number {
                0 => self.line(&format!("int {known} = {there};")),
                _ => self.line(&format!(
                    "int {known} = {there} && __nm_readable({here}, 8);"
                )),
            }
            self.line(&format!("char *{next} = {known} ? *(char **)({here}) : 0;"));
            (memory, there) = (next, known);
        }
        memory = format!("{memory} + {offset}{index}");
        if !pointers.is_empty() || found.index.is_some() {
            let known = self.new_name('k');
            self.line(&format!(
                "int {known} = {there} && __nm_readable({memory}, {bytes});"
            ));
            there = known;
        }
        Ok((memory, there))
    }

    /// The address of a parameter or global, and whether it is there: two C expressions.
    fn base(&mut self, base: &Base) -> (String, String) {
        match base {
            Base::Parameter(number) => {
                let is_structure = self.is_structure(*number);
                let argument = Argument {
                    parameter: *number,
                    is_structure,
                };
                if !self.arguments.contains(&argument) {
                    self.arguments.push(argument);
                }
                let memory = match is_structure {
                    true => format!("a{number}"),
                    false => format!("(char *)&a{number}"),
                };
                (memory, "1".into())
            }
            Base::Global(name) => {
                let known = self.globals.iter().position(|global| global == name);
                let number = known.unwrap_or_else(|| {
                    self.globals.push(name.clone());
                    self.globals.len() - 1
                });
                // Another file's own variable has no address here.
                (format!("g{number}"), format!("(g{number} != 0)"))
            }
        }
    }

    fn is_structure(&self, parameter: usize) -> bool {
        let name = &self.function.parameters[parameter];
        let place = self.unit.base(self.function, name);
        place.is_ok_and(|place| place.leaf == Leaf::Record)
    }

    /// What the code is given, as C declares it.
    fn parameters(&self) -> String {
        let argument = |it: &Argument| match it.is_structure {
            true => format!("char *a{}", it.parameter),
            false => format!("unsigned long a{}", it.parameter),
        };
        let arguments = self.arguments.iter().map(argument);
        let globals = (0..self.globals.len()).map(|number| format!("char *g{number}"));
        let all: Vec<String> = arguments.chain(globals).collect();
        match all.is_empty() {
            true => "void".into(),
            false => all.join(", "),
        }
    }
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::GreaterEqual => ">=",
        Comparison::Greater => ">",
    }
}

fn c_type(signed: bool, bytes: u64) -> String {
    let word = match bytes {
        1 => "char",
        2 => "short",
        4 => "int",
        _ => "long",
    };
    let sign = if signed { "signed" } else { "unsigned" };
    format!("{sign} {word}")
}

/// The type of a variable that holds such a number: sums and products are computed in wider ones.
fn holder(signed: bool, bytes: u64) -> &'static str {
    match (signed, bytes) {
        (false, 8..) => "wide",
        _ => "long long",
    }
}
