//! Processor time and memory of one input in both versions.

use fissure_model::Execution;

use crate::behaviour::{Change, Kind};
use crate::observation::{MEASURE, Measured, answer};

/// What is more than this many times the other is a change.
const FACTOR: f64 = 2.0;
/// In every single round at least this.
const EACH: f64 = 1.6;
/// Nanoseconds below which nobody notices: the call as it is, the call with longer tensors.
const LEAST: u64 = 30_000;
const LEAST_LONGER: u64 = 1_000_000;
/// Bytes that memory must grow by.
const LEAST_BYTES: f64 = (8 << 20) as f64;

/// What changed by rounds of measurements, taken in turn; `None` when any of them does not show it.
pub(crate) fn changes(rounds: &[(Execution, Execution)]) -> Vec<Change> {
    let measured: Vec<(Measured, Measured)> = (rounds.iter())
        .filter_map(|(before, after)| Some((answer(before, MEASURE)?, answer(after, MEASURE)?)))
        .collect();
    if measured.is_empty() || measured.len() < rounds.len() {
        return Vec::new();
    }
    let plain = |it: &Measured| it.nanoseconds.map(|taken| taken as f64);
    let longer = |it: &Measured| it.longer.as_ref().map(|it| it.nanoseconds as f64);
    let peak = |it: &Measured| it.peak.map(|bytes| bytes.max(0) as f64);
    let factor = (measured.iter().flat_map(|(a, b)| [a, b]))
        .filter_map(|it| it.longer.as_ref())
        .map(|it| it.factor)
        .collect::<Vec<u64>>();
    let same_factor = factor.windows(2).all(|pair| pair[0] == pair[1]);
    let mut found = Vec::new();
    let mut add =
        |kind, what: &str, pairs: Option<Vec<(f64, f64)>>, least: f64, unit: fn(f64) -> String| {
            let Some(pairs) = pairs else { return };
            let Some((before, after)) = ratio(&pairs, least) else {
                return;
            };
            let word = match (kind, after > before) {
                (Kind::Speed, true) => "slower",
                (Kind::Speed, false) => "faster",
                (_, true) => "more memory",
                (_, false) => "less memory",
            };
            found.push(Change {
                kind,
                detail: format!("{word}{what}"),
                before: unit(before),
                after: unit(after),
                path: String::new(),
            });
        };
    let pairs = |read: &dyn Fn(&Measured) -> Option<f64>| -> Option<Vec<(f64, f64)>> {
        (measured.iter())
            .map(|(a, b)| Some((read(a)?, read(b)?)))
            .collect()
    };
    add(Kind::Speed, "", pairs(&plain), LEAST as f64, time);
    if same_factor {
        let what = ", tensors made longer";
        add(Kind::Speed, what, pairs(&longer), LEAST_LONGER as f64, time);
        add(Kind::Memory, what, pairs(&peak), LEAST_BYTES, bytes);
    }
    found
}

/// The least of each side, if they are far enough apart in all rounds.
fn ratio(pairs: &[(f64, f64)], least: f64) -> Option<(f64, f64)> {
    let low = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let before = low(&mut pairs.iter().map(|pair| pair.0));
    let after = low(&mut pairs.iter().map(|pair| pair.1));
    let far = |a: f64, b: f64, factor: f64| b > factor * a && b - a >= least / 2.0 && b >= least;
    let rises = far(before, after, FACTOR) && pairs.iter().all(|pair| pair.1 > EACH * pair.0);
    let falls = far(after, before, FACTOR) && pairs.iter().all(|pair| pair.0 > EACH * pair.1);
    (rises || falls).then_some((before, after))
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        it if it >= 1e9 => format!("{:.2} s", it / 1e9),
        it if it >= 1e6 => format!("{:.2} ms", it / 1e6),
        it => format!("{:.1} µs", it / 1e3),
    }
}

fn bytes(count: f64) -> String {
    format!("{:.1} MiB", count / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fissure_model::{Outcome, Report};

    use super::*;

    /// What a worker measured: nanoseconds, those with longer tensors, bytes.
    fn execution(nanoseconds: u64, longer: u64, peak: u64) -> Execution {
        let observed = serde_json::json!({
            "nanoseconds": nanoseconds,
            "longer": {"factor": 64, "nanoseconds": longer},
            "peak": peak,
        });
        let outcome = Outcome::Accepted { nan: false };
        let mut execution = Execution::new(0, outcome, Duration::ZERO);
        execution.reports.push(Report {
            oracle: MEASURE.into(),
            detail: String::new(),
            observed: observed.to_string(),
            expected: String::new(),
            check: String::new(),
            flat: None,
        });
        execution
    }

    #[test]
    fn more_time_and_more_memory_are_changes_and_the_same_amount_of_both_is_none() {
        let usual = || execution(100_000, 2_000_000, 32 << 20);
        let told = |after: Execution| -> Vec<(Kind, String)> {
            let rounds = [(usual(), after.clone()), (usual(), after)];
            let found = changes(&rounds).into_iter();
            found.map(|it| (it.kind, it.detail)).collect()
        };
        let longer = "tensors made longer";
        assert_eq!(told(usual()), []);
        assert_eq!(
            told(execution(600_000, 2_000_000, 32 << 20)),
            [(Kind::Speed, "slower".to_owned())]
        );
        assert_eq!(
            told(execution(100_000, 500_000, 32 << 20)),
            [(Kind::Speed, format!("faster, {longer}"))]
        );
        assert_eq!(
            told(execution(100_000, 2_000_000, 96 << 20)),
            [(Kind::Memory, format!("more memory, {longer}"))]
        );
    }

    #[test]
    fn one_round_that_does_not_show_it_is_enough_for_silence() {
        let slow = [(1e5, 3e5), (1e5, 2.5e5)];
        assert_eq!(ratio(&slow, 3e4), Some((1e5, 2.5e5)));
        assert_eq!(ratio(&[(1e5, 3e5), (1e5, 1.5e5)], 3e4), None);
        assert_eq!(ratio(&[(1e3, 9e3)], 3e4), None, "nobody notices");
        assert_eq!(ratio(&[(3e5, 1e5)], 3e4), Some((3e5, 1e5)));
    }
}
