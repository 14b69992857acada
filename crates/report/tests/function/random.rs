//! Random types and values: a function that changes nothing and gives back its first parameter leaves
//! what it was given, whatever that was. Generated tests must compile and agree.

use std::fmt::Write;

use nearmiss_results::{Block, FunctionReport, Memory, PathTest, Role, VERSION, Value, Variable};

use crate::samples::{integer, pointer, test, variable};

/// A type of C.
#[derive(Clone)]
enum Type {
    /// Its name, bytes, whether it has a sign.
    Number(&'static str, u32, bool),
    Float(u8),
    Enumeration,
    Text,
    /// Its number.
    Structure(usize),
    Array(Box<Type>, usize),
    Pointer(Box<Type>),
}

const NUMBERS: [Type; 9] = [
    Type::Number("char", 1, true),
    Type::Number("signed char", 1, true),
    Type::Number("unsigned char", 1, false),
    Type::Number("short", 2, true),
    Type::Number("unsigned", 4, false),
    Type::Number("int", 4, true),
    Type::Number("long", 8, true),
    Type::Number("unsigned long", 8, false),
    Type::Number("__int128", 16, true),
];

impl Type {
    /// A declaration, made from the inside to the outside.
    fn declare(&self, name: &str) -> String {
        match self {
            Type::Number(word, ..) => format!("{word} {name}"),
            Type::Float(4) => format!("float {name}"),
            Type::Float(_) => format!("double {name}"),
            Type::Enumeration => format!("enum color {name}"),
            Type::Text => format!("char {name}"),
            Type::Structure(number) => format!("struct s{number} {name}"),
            Type::Array(of, count) => of.declare(&format!("{name}[{count}]")),
            Type::Pointer(of) if matches!(**of, Type::Array(..)) => {
                of.declare(&format!("(*{name})"))
            }
            Type::Pointer(of) => of.declare(&format!("*{name}")),
        }
    }

    fn spell(&self) -> String {
        self.declare("").trim_end().to_string()
    }
}

/// What is made up, from one number.
pub struct Inventor {
    state: u64,
    structures: Vec<Vec<(String, Type)>>,
    blocks: Vec<(String, Block)>,
}

impl Inventor {
    pub fn new(seed: u64) -> Inventor {
        Inventor {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            structures: Vec::new(),
            blocks: Vec::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    /// The source of a function, and a report about it.
    pub fn function(&mut self) -> (String, FunctionReport) {
        for _ in 0..3 {
            let count = 1 + self.below(4);
            let members = (0..count)
                .map(|at| (format!("m{at}"), self.invent(2)))
                .collect();
            self.structures.push(members);
        }
        let mut types = vec![self.by_value()];
        types.extend((0..3).map(|_| {
            let of = self.invent(2);
            Type::Pointer(Box::new(of))
        }));
        let tests: Vec<PathTest> = (1..=4).map(|number| self.test(number, &types)).collect();
        let source = self.source(&types);
        let report = FunctionReport {
            version: VERSION,
            function: "same".into(),
            file: "random.c".into(),
            tests,
            ..FunctionReport::default()
        };
        (source, report)
    }

    fn by_value(&mut self) -> Type {
        match self.below(3) {
            0 => Type::Structure(self.below(self.structures.len() as u64) as usize),
            1 => Type::Float(8),
            _ => NUMBERS[self.below(9) as usize].clone(),
        }
    }

    fn invent(&mut self, depth: u32) -> Type {
        let simple = depth == 0;
        match self.below(if simple { 7 } else { 12 }) {
            0 => Type::Float(4),
            1 => Type::Float(8),
            2 => Type::Enumeration,
            3..=6 => NUMBERS[self.below(9) as usize].clone(),
            7 => Type::Pointer(Box::new(Type::Text)),
            8 if !self.structures.is_empty() => {
                Type::Structure(self.below(self.structures.len() as u64) as usize)
            }
            9 | 10 => Type::Pointer(Box::new(self.invent(depth - 1))),
            _ => {
                let count = 1 + self.below(9) as usize;
                Type::Array(Box::new(self.invent(depth - 1)), count)
            }
        }
    }

    fn test(&mut self, number: usize, types: &[Type]) -> PathTest {
        self.blocks.clear();
        let mut variables: Vec<Variable> = Vec::new();
        for (at, of) in types.iter().enumerate() {
            let name = format!("p{at}");
            let value = self.value(of, &name);
            variables.push(variable(&name, Role::Parameter, &of.spell(), value));
        }
        let result = variable(
            "result",
            Role::Result,
            &types[0].spell(),
            variables[0].value.clone(),
        );
        let blocks: Vec<Block> = self.blocks.iter().map(|(_, block)| block.clone()).collect();
        let before = Memory { variables, blocks };
        let mut after = before.clone();
        after.variables.push(result);
        PathTest {
            before,
            after: Some(after),
            ..test(number)
        }
    }

    fn value(&mut self, of: &Type, name: &str) -> Value {
        match of {
            Type::Number(_, size, signed) => integer(self.number(*size, *signed)),
            Type::Text => integer(self.number(1, true)),
            Type::Enumeration => self.color(),
            Type::Float(size) => {
                let odd = [0.0, -0.0, 1.5, 0.1, -1e-30, f64::INFINITY, f64::NAN, 3e7];
                let value = odd[self.below(odd.len() as u64) as usize];
                let bits = match size {
                    4 => u64::from((value as f32).to_bits()),
                    _ => value.to_bits(),
                };
                Value::Float { size: *size, bits }
            }
            Type::Structure(number) => {
                let members = self.structures[*number].clone();
                let values = members.iter().map(|(member, of)| {
                    (member.clone(), self.value(of, &format!("{name}.{member}")))
                });
                Value::Structure(values.collect())
            }
            Type::Array(of, count) => {
                let items = (0..*count).map(|at| self.value(of, &format!("{name}[{at}]")));
                Value::Array(items.collect())
            }
            Type::Pointer(of) => self.pointer(of, name),
        }
    }

    /// Nothing, a block that is there already, or a new one.
    fn pointer(&mut self, of: &Type, name: &str) -> Value {
        let element = of.spell();
        let known = self
            .blocks
            .iter()
            .position(|(spelled, _)| *spelled == element);
        match (self.below(6), known) {
            (0, _) => Value::Null,
            (1 | 2, Some(block)) => pointer(block, 0),
            _ => {
                let content = match of {
                    Type::Text => {
                        let count = self.below(12);
                        Value::Text((0..count).map(|_| 1 + self.below(255) as u8).collect())
                    }
                    _ => {
                        let count = self.below(4);
                        let items = (0..count).map(|at| self.value(of, &format!("{name}[{at}]")));
                        Value::Array(items.collect())
                    }
                };
                let block = Block {
                    name: format!("*{name}"),
                    element: element.clone(),
                    constant: false,
                    freed: false,
                    content,
                };
                self.blocks.push((element, block));
                pointer(self.blocks.len() - 1, 0)
            }
        }
    }

    fn color(&mut self) -> Value {
        let (value, name) = [(0, "RED"), (5, "GREEN"), (-1, "NONE")][self.below(3) as usize];
        Value::Integer {
            value,
            name: Some(name.into()),
        }
    }

    fn number(&mut self, size: u32, signed: bool) -> i128 {
        let bits = size * 8;
        let smallest = i128::MIN >> (128 - bits);
        let (smallest, largest) = match signed {
            true => (smallest, !smallest),
            false => (0, ((1_u128 << bits) - 1) as i128),
        };
        match self.below(4) {
            0 => smallest,
            1 => largest,
            2 => i128::from(self.below(100)),
            _ => largest - i128::from(self.below(100)),
        }
    }

    fn source(&self, types: &[Type]) -> String {
        let mut text = String::from("enum color { NONE = -1, RED, GREEN = 5 };\n");
        for (number, members) in self.structures.iter().enumerate() {
            // Writing into a string does not fail.
            let _ = writeln!(text, "struct s{number} {{");
            for (name, of) in members {
                let _ = writeln!(text, "    {};", of.declare(name));
            }
            text += "};\n";
        }
        let parameters = types.iter().enumerate();
        let parameters: Vec<String> = parameters
            .map(|(at, of)| of.declare(&format!("p{at}")))
            .collect();
        let head = types[0].declare(&format!("same({})", parameters.join(", ")));
        let _ = writeln!(text, "static {head}\n{{\n    return p0;\n}}");
        text
    }
}
