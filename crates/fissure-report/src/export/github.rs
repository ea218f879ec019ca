//! Annotations of a GitHub workflow: one command per finding, read from the log of the job.

use super::sarif::in_checkout;
use crate::run::{Level, Run};
use crate::words;

/// GitHub shows ten annotations of each level per step; the rest would only fill the log.
const SHOWN: usize = 50;

pub fn github(run: &Run) -> String {
    let mut text = String::new();
    for finding in run.counted().take(SHOWN) {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let place = match &finding.location {
            Some(place) => format!(
                "file={},line={},",
                property(&in_checkout(&place.file)),
                place.line
            ),
            None => String::new(),
        };
        let message = format!(
            "{}\n{}\nreproduce: python {}",
            finding.lead(),
            finding.observed,
            run.script_of(finding).display()
        );
        text.push_str(&format!(
            "::{command} {place}title={}::{}\n",
            property(&finding.title),
            data(&message)
        ));
    }
    let left = run.totals.findings.saturating_sub(SHOWN as u64);
    if left > 0 {
        text.push_str(&format!(
            "::notice title=Fissure::{} more\n",
            words::counted(left, "finding")
        ));
    }
    text
}

/// The message of a command: a line end would begin a new one.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a command, which colons and commas would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_cannot_begin_another_command() {
        assert_eq!(data("a\n::error::b"), "a%0A::error::b");
        assert_eq!(property("a,b: 5%"), "a%2Cb%3A 5%25");
    }
}
