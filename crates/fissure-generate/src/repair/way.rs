//! How far a refused call came through Python code.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Functions by their first line and instructions in them, outermost first; the first pair says whether an object was
/// made and then called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way(Vec<(u32, u32)>);

impl Way {
    /// As `fissure_worker/involved.py` writes it; `None` where it says nothing.
    pub(super) fn read(text: &str) -> Option<Way> {
        let mut parts = text.split(';');
        let made = parts.next()?.parse().ok()?;
        let mut steps = vec![(0, made)];
        for part in parts {
            let (function, instruction) = part.split_once('.')?;
            steps.push((function.parse().ok()?, instruction.parse().ok()?));
        }
        (steps.len() > 1).then_some(Way(steps))
    }

    /// Which of two calls came further: by the first instruction that differs. Calls that went into different
    /// functions there, or failed at the same instruction, are equal.
    pub(super) fn further(&self, other: &Way) -> Ordering {
        let mut both = self.0.iter().zip(&other.0);
        let differs = both.find(|(one, other)| one != other);
        match differs {
            Some((one, other)) if one.0 == other.0 => one.1.cmp(&other.1),
            _ => Ordering::Equal,
        }
    }

    /// Where it ended, for telling reasons apart.
    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0
            .iter()
            .flat_map(|(function, at)| [*function, *at])
            .flat_map(u32::to_le_bytes)
    }
}

/// The same where one of them may not be known.
pub(super) fn further(one: Option<&Way>, other: Option<&Way>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.further(other),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_instruction_is_further_and_other_functions_are_not_compared() {
        let way = |text| Way::read(text).unwrap();
        let further = |one, other| way(one).further(&way(other));
        assert_eq!(further("0;10.40", "0;10.8"), Ordering::Greater);
        assert_eq!(further("0;10.40;70.2", "0;10.40;70.90"), Ordering::Less);
        assert_eq!(further("0;10.40;70.2", "0;10.40;90.90"), Ordering::Equal);
        assert_eq!(further("0;10.40;70.2", "0;10.40"), Ordering::Equal);
        assert_eq!(further("1;10.2", "0;60.900"), Ordering::Greater);
        assert_eq!(Way::read(""), None);
        assert_eq!(Way::read("1"), None);
    }
}
