//! What happened when: a run of any length in a few hundred points.

use std::collections::HashMap;

use fissure_campaign::{ApiIndex, BehaviourCounts};
use serde::Serialize;

/// Points kept; twice as many are merged in pairs.
const POINTS: usize = 240;

/// Counts of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimelinePoint {
    /// End of the stretch, in seconds of work since the run began.
    pub seconds: f64,
    pub inputs: u64,
    pub accepted: u64,
    pub rejected: u64,
    /// Neither accepted nor rejected.
    pub other: u64,
    /// Findings and notes written.
    pub found: u64,
    /// How many distinct things all APIs together had shown by its end.
    #[serde(flatten)]
    pub reached: BehaviourCounts,
}

impl TimelinePoint {
    fn merge(&mut self, later: &TimelinePoint) {
        self.seconds = later.seconds;
        self.inputs += later.inputs;
        self.accepted += later.accepted;
        self.rejected += later.rejected;
        self.other += later.other;
        self.found += later.found;
        self.reached = later.reached;
    }
}

/// The points, evenly spaced. Pauses between processes that continue one another are left out.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// Seconds per point.
    pub step: f64,
    pub points: Vec<TimelinePoint>,
    #[serde(skip)]
    clock: Clock,
    #[serde(skip)]
    reached: HashMap<ApiIndex, BehaviourCounts>,
    #[serde(skip)]
    total: BehaviourCounts,
}

/// Seconds of work, from the times of events.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Work of earlier processes.
    earlier: f64,
    /// When the current process began.
    began: Option<f64>,
    last: f64,
}

impl Clock {
    fn now(&self) -> f64 {
        self.earlier + self.began.map_or(0.0, |began| (self.last - began).max(0.0))
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            step: 0.25,
            points: Vec::new(),
            clock: Clock::default(),
            reached: HashMap::new(),
            total: BehaviourCounts::default(),
        }
    }
}

impl Timeline {
    /// A process begins or continues the run.
    pub(super) fn begin(&mut self, time: Option<f64>) {
        self.clock.earlier = self.clock.now();
        self.clock.began = time;
        self.clock.last = time.unwrap_or_default();
    }

    /// The clock moves on.
    pub(super) fn advance(&mut self, time: Option<f64>) {
        if let Some(time) = time {
            self.clock.began.get_or_insert(time);
            self.clock.last = self.clock.last.max(time);
        }
    }

    /// Seconds of work so far.
    pub fn seconds(&self) -> f64 {
        self.clock.now()
    }

    /// How many distinct things an API has shown by now. A process that continues has forgotten the
    /// reasons for rejection, so no count ever falls.
    pub(super) fn reach(&mut self, at: ApiIndex, reached: BehaviourCounts) {
        let known = self.reached.entry(at).or_default();
        let mut grow = |of: fn(&mut BehaviourCounts) -> &mut u64| {
            let mut reached = reached;
            let (old, new) = (*of(known), *of(&mut reached));
            if new > old {
                *of(known) = new;
                *of(&mut self.total) += new - old;
            }
        };
        grow(|counts| &mut counts.behaviours);
        grow(|counts| &mut counts.reasons);
        grow(|counts| &mut counts.dtype_ranks);
        grow(|counts| &mut counts.mutations);
    }

    /// The point of this moment, to be counted into; `None` in a log without times.
    pub(super) fn point(&mut self) -> Option<&mut TimelinePoint> {
        self.clock.began?;
        let now = self.clock.now();
        while now / self.step >= (2 * POINTS) as f64 {
            self.halve();
        }
        let at = (now / self.step) as usize;
        while self.points.len() <= at {
            let reached = self.points.last().map_or(self.total, |last| last.reached);
            self.points.push(TimelinePoint {
                seconds: (self.points.len() + 1) as f64 * self.step,
                reached,
                ..TimelinePoint::default()
            });
        }
        let point = &mut self.points[at];
        point.reached = self.total;
        Some(point)
    }

    fn halve(&mut self) {
        self.step *= 2.0;
        let step = self.step;
        self.points = self
            .points
            .chunks(2)
            .zip(1..)
            .map(|(pair, number)| {
                let mut first = pair[0];
                if let Some(second) = pair.get(1) {
                    first.merge(second);
                }
                first.seconds = f64::from(number) * step;
                first
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_its_counts_in_few_points() {
        let mut timeline = Timeline::default();
        timeline.begin(Some(1000.0));
        for second in 0..100_000 {
            timeline.advance(Some(1000.0 + f64::from(second)));
            timeline.point().unwrap().inputs += 1;
        }
        assert!(timeline.points.len() <= 2 * POINTS);
        let inputs: u64 = timeline.points.iter().map(|point| point.inputs).sum();
        assert_eq!(inputs, 100_000);
        assert!(
            timeline.points.windows(2).all(|pair| (pair[1].seconds
                - pair[0].seconds
                - timeline.step)
                .abs()
                < 1e-9)
        );
    }

    #[test]
    fn the_pause_before_a_resumed_process_is_not_work() {
        let mut timeline = Timeline::default();
        timeline.begin(Some(100.0));
        timeline.advance(Some(110.0));
        timeline.begin(Some(5000.0));
        timeline.advance(Some(5005.0));
        assert_eq!(timeline.seconds(), 15.0);
    }

    #[test]
    fn a_log_without_times_has_no_points() {
        let mut timeline = Timeline::default();
        timeline.begin(None);
        timeline.advance(None);
        assert!(timeline.point().is_none());
    }

    #[test]
    fn counts_of_what_was_reached_never_fall() {
        let mut timeline = Timeline::default();
        let counts = |reasons| BehaviourCounts {
            reasons,
            ..BehaviourCounts::default()
        };
        timeline.begin(Some(0.0));
        timeline.reach(ApiIndex::new(0), counts(5));
        timeline.reach(ApiIndex::new(0), counts(2));
        timeline.reach(ApiIndex::new(1), counts(3));
        assert_eq!(timeline.point().unwrap().reached.reasons, 8);
    }
}
