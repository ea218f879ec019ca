//! In which order APIs are taken up.
//!
//! Never by the alphabet: what ends early would always leave out the same ones. APIs of one module
//! are a group; groups are shuffled by the seed and served in turn, so that a short run has seen
//! something of every module.

use crate::index::ApiIndex;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Positions of the titles in the order of their first turns.
pub fn order<'a>(titles: impl IntoIterator<Item = &'a str>, seed: u64) -> VecDeque<ApiIndex> {
    let mut groups: BTreeMap<&str, Vec<(u64, ApiIndex)>> = BTreeMap::new();
    for (at, title) in titles.into_iter().enumerate() {
        let module = title.rsplit_once('.').map_or("", |(module, _)| module);
        let group = groups.entry(module).or_default();
        group.push((key(seed, title), ApiIndex::new(at)));
    }
    let mut groups: Vec<(u64, VecDeque<ApiIndex>)> = groups
        .into_iter()
        .map(|(module, mut group)| {
            group.sort_unstable();
            let members = group.into_iter().map(|(_, at)| at).collect();
            (key(seed, module), members)
        })
        .collect();
    groups.sort_unstable_by_key(|(key, _)| *key);
    let mut order = VecDeque::new();
    while groups.iter().any(|(_, members)| !members.is_empty()) {
        let next = groups.iter_mut().filter_map(|(_, group)| group.pop_front());
        order.extend(next);
    }
    order
}

fn key(seed: u64, name: &str) -> u64 {
    // Fixed keys: the same order in every run.
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_is_met_early_and_the_seed_decides() {
        let mut titles: Vec<String> = (0..50).map(|n| format!("torch.f{n:02}")).collect();
        titles.extend(["torch.nn.relu".to_owned(), "torch.fft.fft".to_owned()]);
        let of = |seed| order(titles.iter().map(String::as_str), seed);
        let first = of(1);
        assert!(first.iter().take(3).any(|at| at.get() == 50));
        assert!(first.iter().take(3).any(|at| at.get() == 51));
        let mut sorted: Vec<ApiIndex> = first.iter().copied().collect();
        let of = |seed| Vec::from(of(seed));
        assert_ne!(sorted, of(2), "another seed, another order");
        assert_eq!(sorted, of(1), "the same seed, the same order");
        sorted.sort_unstable();
        assert_eq!(sorted, ApiIndex::first(52).collect::<Vec<_>>());
    }
}
