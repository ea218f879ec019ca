//! Whose fault it is that a worker stopped.

use fissure_model::Outcome;

use crate::process::ExitStatus;
use crate::worker::Stop;

const SIGKILL: i32 = 9;
/// Stops in a row without any input to blame, after which the machine is at fault.
const FRUITLESS: u32 = 5;

/// What follows from a stop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The input that the journal names has this outcome.
    Input(Outcome),
    /// Nobody is to blame yet: the next worker tries the same input.
    Nobody,
    Cancelled,
    /// Workers stop again and again before they run anything.
    Machine,
}

/// Remembers, over the inputs of one arena, who was given a second chance.
#[derive(Debug, Default)]
pub(crate) struct Court {
    pardoned: Option<usize>,
    fruitless: u32,
}

impl Court {
    /// `running`: the input that the journal names after the worker has ended.
    pub(crate) fn judge(&mut self, stop: Stop, running: Option<usize>) -> Blame {
        let outcome = match stop {
            Stop::Finished(_) | Stop::Unreached => return Blame::Nobody,
            Stop::Cancelled => return Blame::Cancelled,
            _ if running.is_none() => {
                self.fruitless += 1;
                return if self.fruitless > FRUITLESS {
                    Blame::Machine
                } else {
                    Blame::Nobody
                };
            }
            // The watchdog hit the input after the one it meant.
            Stop::TimedOut(meant) | Stop::OutOfMemory { index: meant, .. } if meant != running => {
                return Blame::Nobody;
            }
            // Somebody else's `kill -9`, perhaps.
            Stop::Died(ExitStatus::Signal(SIGKILL)) | Stop::ZygoteLost if self.pardon(running) => {
                return Blame::Nobody;
            }
            // Inputs before it left most of the memory in use: alone it may well fit.
            Stop::OutOfMemory { alone: false, .. } if self.pardon(running) => {
                return Blame::Nobody;
            }
            Stop::Died(ExitStatus::Signal(signal)) => Outcome::Crash { signal },
            Stop::Died(ExitStatus::Code(code)) => Outcome::Exit { code },
            Stop::ZygoteLost => Outcome::Crash { signal: SIGKILL },
            Stop::TimedOut(_) => Outcome::Timeout,
            Stop::OutOfMemory { .. } => Outcome::OutOfMemory,
        };
        self.fruitless = 0;
        Blame::Input(outcome)
    }

    /// The verdict on the one input of a message about which the journal lies: how its worker
    /// stopped, whatever the journal says.
    pub(crate) fn judge_alone(&mut self, stop: Stop, input: usize) -> Blame {
        let stop = match stop {
            Stop::Finished(_) => return Blame::Input(Outcome::Corruption),
            Stop::TimedOut(_) => Stop::TimedOut(Some(input)),
            Stop::OutOfMemory { alone, .. } => Stop::OutOfMemory {
                index: Some(input),
                alone,
            },
            other => other,
        };
        self.judge(stop, Some(input))
    }

    /// Each input gets one second chance.
    fn pardon(&mut self, running: Option<usize>) -> bool {
        let first = self.pardoned != running;
        self.pardoned = running;
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_blamed_for_the_second_kill_and_for_the_first_crash() {
        let mut court = Court::default();
        let killed = Stop::Died(ExitStatus::Signal(SIGKILL));
        assert_eq!(court.judge(killed, Some(3)), Blame::Nobody);
        assert_eq!(
            court.judge(Stop::ZygoteLost, Some(3)),
            Blame::Input(Outcome::Crash { signal: 9 })
        );
        assert_eq!(court.judge(killed, Some(4)), Blame::Nobody);
        let crashed = Stop::Died(ExitStatus::Signal(11));
        assert_eq!(
            court.judge(crashed, Some(5)),
            Blame::Input(Outcome::Crash { signal: 11 })
        );
        let left = Stop::Died(ExitStatus::Code(0));
        assert_eq!(
            court.judge(left, Some(6)),
            Blame::Input(Outcome::Exit { code: 0 })
        );
    }

    #[test]
    fn the_watchdog_blames_only_the_input_it_meant() {
        let mut court = Court::default();
        assert_eq!(court.judge(Stop::TimedOut(Some(1)), Some(2)), Blame::Nobody);
        assert_eq!(
            court.judge(Stop::TimedOut(Some(2)), Some(2)),
            Blame::Input(Outcome::Timeout)
        );
        let shared = Stop::OutOfMemory {
            index: Some(3),
            alone: false,
        };
        assert_eq!(court.judge(shared, Some(3)), Blame::Nobody);
        assert_eq!(
            court.judge(shared, Some(3)),
            Blame::Input(Outcome::OutOfMemory)
        );
        let alone = Stop::OutOfMemory {
            index: Some(4),
            alone: true,
        };
        assert_eq!(
            court.judge(alone, Some(4)),
            Blame::Input(Outcome::OutOfMemory)
        );
    }

    #[test]
    fn an_input_that_ran_alone_is_blamed_whatever_the_journal_says() {
        let mut court = Court::default();
        let outcomes = [
            (Stop::Finished(0), Outcome::Corruption),
            (Stop::TimedOut(None), Outcome::Timeout),
            (Stop::Died(ExitStatus::Code(0)), Outcome::Exit { code: 0 }),
            (
                Stop::Died(ExitStatus::Signal(11)),
                Outcome::Crash { signal: 11 },
            ),
        ];
        for (stop, outcome) in outcomes {
            assert_eq!(court.judge_alone(stop, 3), Blame::Input(outcome));
        }
        assert_eq!(court.judge_alone(Stop::Cancelled, 3), Blame::Cancelled);
        assert_eq!(court.judge_alone(Stop::Unreached, 3), Blame::Nobody);
    }

    #[test]
    fn a_machine_on_which_no_worker_starts_is_blamed_at_last() {
        let mut court = Court::default();
        for _ in 0..FRUITLESS {
            assert_eq!(
                court.judge(Stop::Died(ExitStatus::Code(86)), None),
                Blame::Nobody
            );
        }
        assert_eq!(court.judge(Stop::ZygoteLost, None), Blame::Machine);
    }
}
