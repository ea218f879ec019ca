//! A stack that has overflowed: the functions that call each other without end.
//!
//! Which of them was innermost, and what it had just called, depends on how deep the stack was
//! before and how large it is. The cycle is the same for every input, in a worker and in a script.

/// Longest cycle that is looked for.
const LONGEST: usize = 16;
/// A cycle has to come round this often to be one.
const ROUNDS: usize = 2;
/// Stands in front of the cycle.
const MARK: &str = "[stack overflow]";

/// Of a stack that has overflowed, the cycle; other stacks stay as they are.
pub(super) fn without_depth(frames: Vec<String>) -> Vec<String> {
    let Some(cycle) = cycle(&frames) else {
        return frames;
    };
    // Begins where it would come first in the alphabet.
    let first = (0..cycle.len())
        .min_by_key(|start| (&cycle[*start..], &cycle[..*start]))
        .unwrap_or(0);
    let mut whole = vec![MARK.to_owned()];
    whole.extend_from_slice(&cycle[first..]);
    whole.extend_from_slice(&cycle[..first]);
    whole
}

/// The shortest period of the outer half of the frames; the inner ones hold what the last round
/// was busy with.
fn cycle(frames: &[String]) -> Option<&[String]> {
    let outer = &frames[frames.len() / 2..];
    (1..=LONGEST.min(outer.len() / ROUNDS))
        .find(|period| {
            outer
                .iter()
                .zip(&outer[*period..])
                .all(|(frame, next)| frame == next)
        })
        .map(|period| &outer[..period])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_cycle_is_the_same_wherever_the_stack_ended() {
        let expected = frames("a c b");
        for start in [
            "malloc b a c b a c b a c b a c b a c",
            "x y c b a c b a c b a c b a c b a c",
            "a c b a c b a c b a c b",
        ] {
            let found = without_depth(frames(start));
            assert_eq!(found[0], MARK);
            assert_eq!(found[1..], expected, "{start}");
        }
    }

    #[test]
    fn frames_that_do_not_repeat_stay() {
        for other in ["a b c d e f g h", "a a a a b c d e", "a"] {
            assert_eq!(without_depth(frames(other)), frames(other));
        }
        assert!(without_depth(Vec::new()).is_empty());
    }
}
