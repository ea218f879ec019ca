//! Which boundary cases each parameter has had.

use std::io::{self, Write};

use fissure_model::Mutator;

/// How often each mutator was used on each parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutatorCoverage {
    params: Vec<(String, [u64; Mutator::ALL.len()])>,
}

impl MutatorCoverage {
    pub(crate) fn new(params: impl Iterator<Item = String>) -> Self {
        MutatorCoverage {
            params: params.map(|name| (name, [0; Mutator::ALL.len()])).collect(),
        }
    }

    pub fn count(&self, param: &str, mutator: Mutator) -> u64 {
        let row = self.params.iter().find(|(name, _)| name == param);
        row.map_or(0, |(_, counts)| counts[position(mutator)])
    }

    pub(crate) fn add(&mut self, param: &str, mutator: Mutator) {
        match self.params.iter_mut().find(|(name, _)| name == param) {
            Some((_, counts)) => counts[position(mutator)] += 1,
            None => {
                let mut counts = [0; Mutator::ALL.len()];
                counts[position(mutator)] = 1;
                self.params.push((param.to_owned(), counts));
            }
        }
    }

    /// One line per parameter, one column per mutator, as in DocTer's `mutate_op_coverage.csv`.
    pub fn write_csv(&self, target: &mut impl Write) -> io::Result<()> {
        write!(target, "param")?;
        for mutator in Mutator::ALL {
            write!(target, ",{mutator}")?;
        }
        writeln!(target)?;
        for (name, counts) in &self.params {
            // Parameter names are Python identifiers and need no quoting.
            write!(target, "{name}")?;
            for count in counts {
                write!(target, ",{count}")?;
            }
            writeln!(target)?;
        }
        Ok(())
    }
}

fn position(mutator: Mutator) -> usize {
    let at = Mutator::ALL.iter().position(|known| *known == mutator);
    at.expect("ALL lists every mutator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_every_parameter_even_unused_ones() {
        let mut coverage = MutatorCoverage::new(["x".to_owned(), "dim".to_owned()].into_iter());
        coverage.add("dim", Mutator::Zero);
        coverage.add("dim", Mutator::Zero);
        let mut text = Vec::new();
        coverage.write_csv(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "x,0,0,0,0,0,0,0");
        assert_eq!(lines[2], "dim,0,0,2,0,0,0,0");
        assert_eq!(coverage.count("dim", Mutator::Zero), 2);
        assert_eq!(coverage.count("nowhere", Mutator::Zero), 0);
    }
}
