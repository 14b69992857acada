//! Functions of the code under test announce their calls (`abi::boundary`).
//!
//! The function itself does so and not its callers: a test framework calls through tables, a test in C++ is
//! not instrumented, and a library's own calls of the function are told from the test's by being inside of one.

use nearmiss_abi::boundary::{ASSERTS, BEGIN, END, MOST_FIELDS, MOST_PARAMETERS, parameter};
use nearmiss_sites::rewrite::Boundary;
use rustc_hash::FxHashSet;

use super::{file_of, first_action, formats, own_functions, test_code};
use crate::llvm::{Builder, Field, Module, Opcode, SourceType, Type, Value};

/// Announces the calls of all functions that test code may call, and keeps test code from ending the program.
pub fn announce(module: &Module, boundary: &Boundary) {
    let is_test = |function: &Value| {
        let file = file_of(*function);
        file.is_some_and(|file| boundary.test_files.contains(&file))
    };
    let (tests, others): (Vec<Value>, Vec<Value>) =
        own_functions(module).into_iter().partition(is_test);
    let named: FxHashSet<&str> = boundary.functions.iter().map(String::as_str).collect();
    let tests: FxHashSet<Value> = tests.into_iter().collect();
    let hooks = Hooks::declare(module);
    for function in &others {
        formats::announce(module, *function);
        test_code::announce_giving_up(module, *function, ASSERTS);
    }
    for function in others.iter().filter(|it| can_announce(**it)) {
        let is_wanted = match named.is_empty() {
            true => !function.is_local() || is_used_in(*function, &tests),
            false => named.contains(function.name().as_str()),
        };
        if is_wanted {
            hooks.add(module, *function);
        }
    }
    for function in tests {
        test_code::go_on(module, function);
        test_code::fork_on_the_way(module, function);
        let is_named = named.contains(function.name().as_str());
        if is_named && can_announce(function) {
            hooks.add(module, function);
        }
    }
}

fn can_announce(function: Value) -> bool {
    let is_main = function.name() == "main";
    let is_system = file_of(function).is_none_or(|file| file.starts_with("/usr/include/"));
    // Also without any parameter: what it calls is then no call of the test's.
    !is_main
        && !is_system
        && !function.has_attribute(u32::MAX, "naked")
        && !function.has_attribute(u32::MAX, "alwaysinline")
        && function.parameters().len() <= MOST_PARAMETERS
}

/// Whether one of these functions calls it or takes its address.
fn is_used_in(function: Value, users: &FxHashSet<Value>) -> bool {
    let is_in = |user: &Value| user.is_instruction() && users.contains(&user.block().function());
    let is_listed = |user: &Value| !user.is_instruction();
    let used = function.users();
    used.iter().any(is_in) || (!users.is_empty() && used.iter().any(is_listed))
}

struct Hooks {
    begin: (Value, Type),
    end: (Value, Type),
}

impl Hooks {
    fn declare(module: &Module) -> Hooks {
        let builder = Builder::new(module);
        let (pointer, word) = (builder.pointer_type(), builder.integer_type(64));
        let declare = |name: &str, parameters: &[Type]| {
            let ty = module.function_type(module.void_type(), parameters, false);
            (module.declare_as(name, ty), ty)
        };
        Hooks {
            begin: declare(BEGIN, &[pointer; 4]),
            end: declare(END, &[pointer, word, word]),
        }
    }

    fn add(&self, module: &Module, function: Value) {
        // Where it is called from is asked of its frame.
        module.forbid_inlining(function);
        let builder = Builder::new(module);
        let word = builder.integer_type(64);
        let parameters = function.parameters();
        let first = first_action(function);
        builder.before(first);
        let slots = builder.alloca(word, parameters.len().max(1) as u64);
        let slot = |index: usize| builder.offset(slots, builder.u64(8 * index as u64));
        // What uses a parameter from here on uses what its slot holds then.
        let kinds = kinds(module, function);
        let passed = |index: usize| kinds.as_bytes()[2 * index] != parameter::NONE as u8;
        for (index, value) in parameters.iter().enumerate().filter(|it| passed(it.0)) {
            builder.store(builder.unsigned(*value, 64), slot(index));
        }
        let call = builder.constant_struct(&[
            builder.text(module, &function.name()),
            builder.text(module, &kinds),
            builder.text(module, &fields(module, function)),
        ]);
        let call = module.add_constant(call);
        let stores: FxHashSet<Value> = before(first).into_iter().collect();
        // Slots may lie elsewhere than on the stack: AddressSanitizer moves them.
        let frame = builder.frame_address();
        let caller = builder.return_address();
        builder.call(self.begin.1, self.begin.0, &[call, slots, frame, caller]);
        for (index, value) in parameters.iter().enumerate().filter(|it| passed(it.0)) {
            let now = builder.load(value.ty(), slot(index));
            for user in value.users() {
                if stores.contains(&user) || user == now {
                    continue;
                }
                let uses = (0..user.operand_count()).filter(|at| user.operand(*at) == *value);
                for at in uses.collect::<Vec<_>>() {
                    user.set_operand(at, now);
                }
            }
        }
        self.add_ends(&builder, function, frame);
    }

    fn add_ends(&self, builder: &Builder, function: Value, frame: Value) {
        for block in function.blocks() {
            let end = block.terminator();
            if end.opcode() != Opcode::LLVMRet {
                continue;
            }
            let instructions = block.instructions();
            let tail = instructions.into_iter().rev().nth(1);
            let is_tail = |it: &Value| it.opcode() == Opcode::LLVMCall && it.is_must_tail();
            let tail = tail.filter(is_tail);
            builder.before(tail.unwrap_or(end));
            // What comes of a tail call is not known before it.
            let returned = (end.operand_count() == 1 && tail.is_none()).then(|| end.operand(0));
            let number = returned.and_then(|value| as_number(builder, value));
            let has_number = builder.u64(number.is_some().into());
            let number = number.unwrap_or(builder.u64(0));
            builder.call(self.end.1, self.end.0, &[frame, number, has_number]);
        }
    }
}

/// A returned number or pointer as 64 bits. Those below zero are found among numbers of an `int`'s size or more.
fn as_number(builder: &Builder, value: Value) -> Option<Value> {
    let ty = value.ty();
    match ty.scalar_width().filter(|_| ty.is_integer()) {
        Some(32 | 64) => Some(builder.signed(value, 64)),
        Some(1..=16) => Some(builder.unsigned(value, 64)),
        _ => ty.is_pointer().then(|| builder.unsigned(value, 64)),
    }
}

/// The instructions before one in its block.
fn before(end: Value) -> Vec<Value> {
    let instructions = end.block().instructions().into_iter();
    instructions.take_while(|it| *it != end).collect()
}

/// What the parameters are, as `abi::boundary::parameter` has it.
fn kinds(module: &Module, function: Value) -> String {
    let types = module.source_types(function);
    let is_format = |index: usize| match types.as_ref().and_then(|types| types.get(index + 1)) {
        Some(next) => *next == SourceType::ArgumentList,
        None => {
            let is_last = index + 1 == function.parameters().len();
            is_last && function.global_value_type().is_variadic()
        }
    };
    let mut kinds = String::new();
    for (index, value) in function.parameters().into_iter().enumerate() {
        let is_copy = ["byval", "sret"].iter().any(|attribute| {
            let attribute = function.parameter_type_attribute(index as u32, attribute);
            attribute.is_some()
        });
        let known = types.as_ref().map(|types| types[index]);
        let (letter, size) = match (value.ty(), known) {
            _ if is_copy => (parameter::NONE, 0),
            // What follows is as it says.
            (ty, _) if ty.is_pointer() && is_format(index) => (parameter::OTHER, 0),
            (_, Some(SourceType::ArgumentList)) => (parameter::OTHER, 0),
            (ty, Some(SourceType::Enumeration)) if ty.scalar_width() == Some(32) => {
                (parameter::ENUMERATION, 4)
            }
            (ty, _) if ty.is_integer() => match ty.scalar_width() {
                Some(width @ (8 | 16 | 32 | 64)) => (parameter::NUMBER, u64::from(width) / 8),
                _ => (parameter::NONE, 0),
            },
            (ty, _) if !ty.is_pointer() => (parameter::NONE, 0),
            (_, Some(SourceType::Numbers { size, is_constant })) if size <= 8 => {
                match is_constant {
                    true => (parameter::CONSTANT, size),
                    false => (parameter::MUTABLE, size),
                }
            }
            (_, None) => (parameter::UNKNOWN, 0),
            _ => (parameter::OTHER, 0),
        };
        kinds.push(letter);
        kinds.push(char::from(b'0' + size as u8));
    }
    kinds
}

/// The numbers in structures that parameters lead to, as `abi::boundary` has it.
fn fields(module: &Module, function: Value) -> String {
    let mut all = String::new();
    for index in 0..function.parameters().len() {
        let fields = module.source_fields(function, index);
        let is_usual =
            |field: &Field| matches!(field.size, 1 | 2 | 4 | 8) && !says_a_size(&field.name);
        let mut text = format!("{index}:");
        for field in fields.iter().filter(|field| is_usual(field)) {
            let sign = if field.is_signed { 's' } else { 'u' };
            let one = format!("{}@{}{sign}{},", field.name, field.offset, field.size);
            if text.len() + one.len() <= MOST_FIELDS {
                text += &one;
            }
        }
        if text.ends_with(',') {
            all += &text;
            all.push(';');
        }
    }
    all
}

/// Words in the names of numbers that say how much there is of something else in the structure, or where in it.
const OF_SIZES: &[&str] = &[
    "n",
    "num",
    "count",
    "cnt",
    "size",
    "sz",
    "len",
    "length",
    "capacity",
    "cap",
    "alloc",
    "allocated",
    "used",
    "avail",
    "available",
    "pos",
    "position",
    "offset",
    "index",
    "idx",
    "head",
    "tail",
    "top",
    "bytes",
    "max",
];

/// Whether a number of a structure is the caller's promise about the rest of it.
fn says_a_size(field: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    // `itemCount` and `item_count` alike; plural or not.
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.ends_with(char::is_uppercase) {
            words.push('_');
        }
        words.push(letter);
    }
    let words = words.to_lowercase();
    words.split('_').any(|word| OF_SIZES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::says_a_size;

    #[test]
    fn sizes_are_known_by_their_names() {
        for name in [
            "count",
            "in.item_count",
            "itemCount",
            "n",
            "buf_len",
            "BufSize",
        ] {
            assert!(says_a_size(name), "{name}");
        }
        for name in ["width", "inner.height", "account", "lenient", "flags"] {
            assert!(!says_a_size(name), "{name}");
        }
    }
}
