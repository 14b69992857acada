//! Functions of a header that make what another one needs: the hint where a structure cannot be made from outside.

use nearmiss_harness::{Prototype, Shape};

/// Up to so many are named.
const MOST: usize = 4;

/// Functions that give back one of the pointers that `prototype` takes, or set up what they lead to.
pub fn makers(prototypes: &[Prototype], prototype: &Prototype) -> Vec<String> {
    let wanted: Vec<String> = (prototype.parameters.iter())
        .filter(|parameter| is_record(&parameter.shape))
        .map(|parameter| plain(&parameter.spelled))
        .collect();
    let makes = |other: &&Prototype| {
        let result = other
            .declaration
            .split(&format!("{}(", other.function))
            .next();
        result.is_some_and(|result| wanted.contains(&plain(result)))
    };
    let sets_up = |other: &&Prototype| {
        let name = other.function.to_lowercase();
        let is_named = ["init", "open", "create", "new"]
            .iter()
            .any(|word| name.contains(word));
        let mut given = other
            .parameters
            .iter()
            .map(|parameter| plain(&parameter.spelled));
        is_named
            && given.any(|spelled| {
                wanted
                    .iter()
                    .any(|one| spelled == *one || spelled == format!("{one}*"))
            })
    };
    let others = || {
        prototypes
            .iter()
            .filter(|other| other.function != prototype.function)
    };
    let mut names: Vec<String> = others()
        .filter(makes)
        .map(|other| other.function.clone())
        .collect();
    names.extend(others().filter(sets_up).map(|other| other.function.clone()));
    names.dedup();
    names.truncate(MOST);
    names
}

/// A type without what does not matter here.
fn plain(spelled: &str) -> String {
    let words = spelled.split(|letter: char| letter.is_whitespace());
    let kept = words.filter(|word| !["const", "restrict", "volatile", "extern"].contains(word));
    kept.collect::<String>().replace("restrict", "")
}

/// Whether it is a pointer to a structure, or to what is not declared.
fn is_record(shape: &Shape) -> bool {
    match shape {
        Shape::Pointer(of) => of.size == 0 || !of.members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_harness::{Declared, Pointee};

    fn shape(spelled: &str) -> Shape {
        Shape::Pointer(Pointee {
            spelled: spelled.into(),
            size: u64::from(spelled.contains("char")),
            is_char: spelled.contains("char"),
            is_void: false,
            is_const: false,
            is_restrict: false,
            signed: None,
            members: Vec::new(),
        })
    }

    fn prototype(function: &str, result: &str, parameters: &[&str]) -> Prototype {
        let declared = |spelled: &&str| Declared {
            name: "p".into(),
            spelled: spelled.to_string(),
            shape: shape(spelled),
            offset: 0,
        };
        Prototype {
            function: function.into(),
            declaration: format!("{result}{function}(void)"),
            parameters: parameters.iter().map(declared).collect(),
            variadic: false,
        }
    }

    #[test]
    fn what_gives_back_or_sets_up_a_structure_is_named() {
        let all = [
            prototype("fopen", "FILE *", &["const char *"]),
            prototype("stream_init", "int ", &["struct stream *", "int"]),
            prototype("fclose", "int ", &["FILE *"]),
        ];
        assert_eq!(makers(&all, &all[2]), ["fopen"]);
        let reads = prototype("stream_read", "int ", &["struct stream *", "char *"]);
        assert_eq!(makers(&all, &reads), ["stream_init"]);
        assert!(makers(&all, &prototype("strlen", "size_t ", &["const char *"])).is_empty());
    }
}
