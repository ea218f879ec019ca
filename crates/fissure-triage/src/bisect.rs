//! In which release a failure came, and in which it went.

use std::collections::BTreeMap;

use crate::replay::Replay;

/// What was found out about a row of releases, told by their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bisection {
    /// The first release that fails.
    pub first_bad: Option<usize>,
    /// The first release after it that does not.
    pub first_good: Option<usize>,
    /// The release before the first bad one that was seen not to fail; `None` when even the oldest
    /// that runs fails.
    pub good_before: Option<usize>,
    /// Every release that was tried.
    pub tried: BTreeMap<usize, Replay>,
}

impl Bisection {
    /// Releases between the two that nothing can be said about.
    pub fn cannot_run(&self) -> impl Iterator<Item = (usize, &str)> {
        self.tried
            .iter()
            .filter(|(_, replay)| matches!(replay, Replay::CannotRun(_)))
            .map(|(at, replay)| (*at, replay.detail()))
    }
}

/// Finds the first bad release and the first good one after it among `count` releases, oldest
/// first. `known_bad` is where the failure was found, if it is one of them.
///
/// Both searches are binary: they hold for a failure that came once and went once. A release that
/// cannot be run is passed over for the nearest one that can.
pub fn bisect<E>(
    count: usize,
    known_bad: Option<usize>,
    try_release: &mut dyn FnMut(usize) -> Result<Replay, E>,
) -> Result<Bisection, E> {
    let mut search = Search {
        found: Bisection::default(),
        try_release,
    };
    let mut starts: Vec<usize> = known_bad.into_iter().collect();
    if count > 0 {
        starts.extend([count - 1, 0]);
    }
    let mut bad = None;
    for start in starts {
        // The end of the row that can be run.
        let towards = if start == 0 { 0..count } else { 0..start + 1 };
        bad = search.nearest(start, towards)?.filter(|(_, fails)| *fails);
        if bad.is_some() {
            break;
        }
    }
    let Some((bad, _)) = bad else {
        return Ok(search.found);
    };
    search.found.first_bad = Some(bad);
    if let Some((oldest, false)) = search.nearest(0, 0..bad)? {
        let (good, first_bad) = search.boundary(oldest, bad)?;
        search.found.good_before = Some(good);
        search.found.first_bad = Some(first_bad);
    } else if let Some((&oldest, _)) = search.found.tried.iter().find(|(_, it)| it.fails()) {
        search.found.first_bad = Some(oldest);
    }
    if let Some((newest, false)) = search.nearest(count - 1, bad + 1..count)? {
        let (good, _) = search.boundary(newest, bad)?;
        search.found.first_good = Some(good);
    }
    Ok(search.found)
}

struct Search<'a, E> {
    found: Bisection,
    try_release: &'a mut dyn FnMut(usize) -> Result<Replay, E>,
}

impl<E> Search<'_, E> {
    /// Whether a release fails; `None` when it cannot be run.
    fn fails(&mut self, at: usize) -> Result<Option<bool>, E> {
        if !self.found.tried.contains_key(&at) {
            let replay = (self.try_release)(at)?;
            self.found.tried.insert(at, replay);
        }
        Ok(match &self.found.tried[&at] {
            Replay::CannotRun(_) => None,
            replay => Some(replay.fails()),
        })
    }

    /// The release nearest to `at` inside `range` that can be run, and whether it fails.
    fn nearest(
        &mut self,
        at: usize,
        range: std::ops::Range<usize>,
    ) -> Result<Option<(usize, bool)>, E> {
        let mut candidates: Vec<usize> = range.collect();
        candidates.sort_by_key(|candidate| candidate.abs_diff(at));
        for candidate in candidates {
            if let Some(fails) = self.fails(candidate)? {
                return Ok(Some((candidate, fails)));
            }
        }
        Ok(None)
    }

    /// Between a release that does not fail and one that does, in either order: the last that does
    /// not and the first that does, with nothing that runs between them.
    fn boundary(&mut self, mut good: usize, mut bad: usize) -> Result<(usize, usize), E> {
        loop {
            let (low, high) = (good.min(bad), good.max(bad));
            let middle = low + (high - low) / 2;
            match self.nearest(middle, low + 1..high)? {
                None => return Ok((good, bad)),
                Some((at, true)) => bad = at,
                Some((at, false)) => good = at,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `.` does not fail, `x` fails, `?` cannot be run.
    fn search(row: &str, known_bad: Option<usize>) -> (Bisection, usize) {
        let row: Vec<char> = row.chars().collect();
        let mut runs = 0;
        let found = bisect(row.len(), known_bad, &mut |at| {
            runs += 1;
            Ok::<_, ()>(match row[at] {
                'x' => Replay::StillFails,
                '?' => Replay::CannotRun("no wheel".into()),
                _ => Replay::Fixed("a result".into()),
            })
        });
        (found.unwrap(), runs)
    }

    #[test]
    fn both_ends_of_a_failure_are_found_in_a_few_runs() {
        let (found, runs) = search("............xxxxxxxxxxxxxxxxxxx.............", Some(20));
        assert_eq!(
            (found.good_before, found.first_bad, found.first_good),
            (Some(11), Some(12), Some(31))
        );
        assert!(runs <= 13, "{runs}");
    }

    #[test]
    fn a_failure_that_was_always_there_or_never_went_has_one_end() {
        let (found, _) = search("xxxxx...", Some(2));
        assert_eq!(
            (found.good_before, found.first_bad, found.first_good),
            (None, Some(0), Some(5))
        );
        let (found, _) = search("..xxxxxx", None);
        assert_eq!((found.first_bad, found.first_good), (Some(2), None));
        let (found, runs) = search("........", Some(3));
        assert_eq!((found.first_bad, runs), (None, 3));
    }

    #[test]
    fn releases_that_cannot_run_are_passed_over_and_named() {
        let (found, _) = search("?..???xx?x??.?", Some(7));
        assert_eq!(
            (found.good_before, found.first_bad, found.first_good),
            (Some(2), Some(6), Some(12))
        );
        let skipped: Vec<usize> = found.cannot_run().map(|(at, _)| at).collect();
        assert_eq!(skipped, [0, 3, 4, 5, 10, 11, 13]);
        let (found, _) = search("???", Some(1));
        assert_eq!((found.first_bad, found.tried.len()), (None, 3));
        assert_eq!(search("", None).0, Bisection::default());
    }

    #[test]
    fn an_error_of_the_runner_ends_the_search() {
        assert_eq!(bisect(3, None, &mut |_| Err("stopped")), Err("stopped"));
    }
}
