//! How different inputs are from each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use fissure_rules::Datum;

/// Inputs that are compared pair by pair; the others are only counted.
const COMPARED: usize = 256;

/// Collects inputs and measures them.
#[derive(Debug, Default)]
pub struct Diversity {
    inputs: u64,
    distinct: HashSet<String>,
    /// How often each variable has each value.
    values: BTreeMap<String, HashMap<String, u64>>,
    compared: Vec<BTreeMap<String, String>>,
}

/// The measures over all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct DiversityReport {
    pub inputs: u64,
    pub distinct: usize,
    /// Different values a variable (a rank, a size, a dtype, a number) has, in the mean.
    pub values_per_variable: f64,
    /// Share of variables in which two inputs differ, in the mean over pairs.
    pub distance: f64,
    /// Bits of a variable's value, in the mean.
    pub entropy: f64,
}

impl Diversity {
    pub fn add(&mut self, names: &[String], input: &[Datum]) {
        self.inputs += 1;
        self.distinct.insert(format!("{input:?}"));
        let mut variables = BTreeMap::new();
        for (name, datum) in names.iter().zip(input) {
            flatten(name.clone(), datum, &mut variables);
        }
        for (name, value) in &variables {
            let counts = self.values.entry(name.clone()).or_default();
            *counts.entry(value.clone()).or_insert(0) += 1;
        }
        if self.compared.len() < COMPARED {
            self.compared.push(variables);
        }
    }

    pub fn report(&self) -> DiversityReport {
        let variables = self.values.len().max(1) as f64;
        let values: usize = self.values.values().map(HashMap::len).sum();
        let entropy: f64 = self.values.values().map(entropy).sum();
        let (mut distance, mut pairs) = (0.0, 0.0);
        for (position, left) in self.compared.iter().enumerate() {
            for right in &self.compared[..position] {
                distance += difference(left, right);
                pairs += 1.0;
            }
        }
        DiversityReport {
            inputs: self.inputs,
            distinct: self.distinct.len(),
            values_per_variable: values as f64 / variables,
            distance: if pairs > 0.0 { distance / pairs } else { 0.0 },
            entropy: entropy / variables,
        }
    }
}

fn entropy(counts: &HashMap<String, u64>) -> f64 {
    let total: u64 = counts.values().sum();
    counts
        .values()
        .map(|count| {
            let share = *count as f64 / total as f64;
            -share * share.log2()
        })
        .sum()
}

/// The share of the variables of both that are missing in one or have different values.
fn difference(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) -> f64 {
    let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
    names.sort();
    names.dedup();
    let different = names
        .iter()
        .filter(|name| left.get(**name) != right.get(**name))
        .count();
    different as f64 / names.len().max(1) as f64
}

fn flatten(name: String, datum: &Datum, found: &mut BTreeMap<String, String>) {
    match datum {
        Datum::Tensor(tensor) => {
            found.insert(format!("ndim({name})"), tensor.shape.len().to_string());
            found.insert(format!("dtype({name})"), tensor.dtype.to_string());
            for (at, dim) in tensor.shape.iter().enumerate() {
                found.insert(format!("shape({name}, {at})"), dim.to_string());
            }
        }
        Datum::List(items) | Datum::Tuple(items) => {
            found.insert(format!("{name}.len"), items.len().to_string());
            for (at, item) in items.iter().enumerate() {
                flatten(format!("{name}[{at}]"), item, found);
            }
        }
        other => {
            found.insert(name, format!("{other:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_inputs_have_no_distance_and_different_ones_have() {
        let names = ["n".to_owned(), "b".to_owned()];
        let mut diversity = Diversity::default();
        diversity.add(&names, &[Datum::Int(1), Datum::Bool(true)]);
        diversity.add(&names, &[Datum::Int(1), Datum::Bool(true)]);
        assert_eq!(diversity.report().distance, 0.0);
        assert_eq!(diversity.report().distinct, 1);
        diversity.add(&names, &[Datum::Int(2), Datum::Bool(true)]);
        diversity.add(&names, &[Datum::Int(2), Datum::Bool(true)]);
        let report = diversity.report();
        assert_eq!(report.distinct, 2);
        assert_eq!(report.values_per_variable, 1.5);
        assert_eq!(report.entropy, 0.5, "one bit, and none");
        assert!((report.distance - 4.0 * 0.5 / 6.0).abs() < 1e-12);
    }
}
