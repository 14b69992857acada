//! Tests of the table of models.

use super::*;

#[test]
fn names_are_unique_and_signatures_well_formed() {
    for (index, model) in MODELS.iter().enumerate() {
        assert!(
            MODELS[..index].iter().all(|other| other.name != model.name),
            "{}",
            model.name
        );
        let letters = model.signature.strip_suffix('.').unwrap_or(model.signature);
        assert!(
            letters.chars().all(|letter| "vilpfdxs".contains(letter)),
            "{}",
            model.name
        );
    }
}
