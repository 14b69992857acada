//! Which values of variables belong to a call that can be made.

use nearmiss_contracts::{Comparison, Formula};

use crate::environment::{Block, Environment, Home, Quantity};

impl Environment {
    /// What holds for every call that can be made.
    pub(crate) fn rules(&self) -> Vec<Formula> {
        let mut rules = Vec::new();
        for quantity in &self.quantities {
            let within = Formula::All(vec![
                self.against(quantity, Comparison::GreaterEqual, quantity.range.0),
                self.against(quantity, Comparison::LessEqual, quantity.range.1),
            ]);
            let other = |value: &i64| self.against(quantity, Comparison::Equal, *value);
            let mut ways = vec![within];
            ways.extend(quantity.others.iter().map(other));
            rules.push(Formula::Any(ways));
        }
        for (index, block) in self.blocks.iter().enumerate() {
            self.rules_of_block(index, block, &mut rules);
        }
        for number in &self.numbers {
            self.rule_of_member(number.home, number.variable, &mut rules);
        }
        rules
    }

    fn rules_of_block(&self, index: usize, block: &Block, rules: &mut Vec<Formula>) {
        let address = |value: usize| self.equals(block.address, value as i64);
        let mut ways = vec![address(0), address(index + 1)];
        for earlier in &block.aliases {
            let first = &self.blocks[*earlier];
            let mut same = vec![
                address(earlier + 1),
                self.equals(first.address, *earlier as i64 + 1),
            ];
            let pairs = self
                .attributes(block)
                .into_iter()
                .zip(self.attributes(first));
            same.extend(pairs.map(|(a, b)| self.compare(Comparison::Equal, a, b)));
            ways.push(Formula::All(same));
        }
        rules.push(Formula::Any(ways));
        // NULL leads to nothing.
        for attribute in self.attributes(block) {
            rules.push(Formula::Any(vec![
                address(0).negated(),
                self.equals(attribute, 0),
            ]));
        }
        for (position, (_, find)) in block.finds.iter().enumerate() {
            rules.push(self.compare(Comparison::LessEqual, *find, block.bounds));
            for (_, other) in &block.finds[..position] {
                let apart = self.compare(Comparison::NotEqual, *find, *other);
                let nowhere = self.compare(Comparison::Equal, *find, block.bounds);
                rules.push(Formula::Any(vec![apart, nowhere]));
            }
        }
        if let Some((least, greatest)) = block.range {
            rules.push(self.compare(Comparison::LessEqual, least, greatest));
            let some = self.equals(block.bounds, 0).negated();
            for end in [least, greatest] {
                rules.push(Formula::Any(vec![some.clone(), self.equals(end, 0)]));
            }
            let several = self.equals(block.bounds, 1).negated();
            let same = self.compare(Comparison::Equal, least, greatest);
            rules.push(Formula::Any(vec![several, same]));
        }
        self.rule_of_member(block.home, block.address, rules);
    }

    /// Members of what is not there are zero.
    fn rule_of_member(&self, home: Home, variable: usize, rules: &mut Vec<Formula>) {
        if let Home::Member(block, _) = home {
            let there = self.equals(self.blocks[block].bounds, 0).negated();
            rules.push(Formula::Any(vec![there, self.equals(variable, 0)]));
        }
    }

    fn of(&self, variable: usize) -> Formula {
        Formula::Term(self.quantities[variable].term.clone())
    }

    fn equals(&self, variable: usize, value: i64) -> Formula {
        Formula::compare(Comparison::Equal, self.of(variable), Formula::Number(value))
    }

    fn against(&self, quantity: &Quantity, comparison: Comparison, value: i64) -> Formula {
        Formula::compare(
            comparison,
            Formula::Term(quantity.term.clone()),
            Formula::Number(value),
        )
    }

    fn compare(&self, comparison: Comparison, left: usize, right: usize) -> Formula {
        Formula::compare(comparison, self.of(left), self.of(right))
    }
}
