//! Durations on the command line: `180s`, `2h`, `1h30m`, or plain seconds.

use std::time::Duration;

use jiff::SignedDuration;

/// Reads a duration that is longer than nothing.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let hint = "give a time such as 180s, 10m or 2h";
    let read = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| hint.to_owned())?,
        Err(_) => {
            let signed: SignedDuration = text.parse().map_err(|_| hint.to_owned())?;
            Duration::try_from(signed).map_err(|_| hint.to_owned())?
        }
    };
    if read.is_zero() {
        return Err(hint.to_owned());
    }
    Ok(read)
}

/// Seconds, written as a number or as a duration; -1 where that means without end.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok(seconds),
        _ => duration(text).map(|time| time.as_secs_f64()),
    }
}

/// A duration, or `None` for `forever`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub Option<Duration>);

/// Reads a duration or the word `forever`.
pub(crate) fn limit(text: &str) -> Result<Limit, String> {
    if text == "forever" {
        return Ok(Limit(None));
    }
    duration(text)
        .map(|time| Limit(Some(time)))
        .map_err(|hint| format!("{hint}, or forever"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("180s", 180),
            ("2h", 7200),
            ("1h30m", 5400),
            ("10min", 600),
            ("45", 45),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["", "0", "0s", "-5s", "-1", "soon", "3 apples", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(seconds("1m30s"), Ok(90.0));
        assert_eq!(seconds("-1"), Ok(-1.0));
        assert!(seconds("inf").is_err() && seconds("soon").is_err());
        assert_eq!(limit("forever"), Ok(Limit(None)));
        assert_eq!(limit("2m"), Ok(Limit(Some(Duration::from_secs(120)))));
    }
}
