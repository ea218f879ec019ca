//! The lines are run, and judged by the comparison that they stand for.

use fissure_model::{Finding, OutcomeKind};

use super::super::{CALLING, literal};
use super::reader::Reading;
use super::{Flat, shortened};
use crate::confirm::{ScriptRun, reproduces};
use crate::failure::report_of;

/// Before what a `print` got, as JSON.
const SHOWN: &str = "SHOWN: ";
/// Before the name of the exception that the lines ended with.
const RAISED: &str = "RAISED: ";
/// The comparison says that what was printed is wrong.
const WRONG: &str = "JUDGED: wrong";

/// More than this is no line of a report.
const WIDTH: usize = 100;
const LINES: usize = 6;

const HARNESS: &str = r#"
shown = []
texts = []


def show(value):
    texts.append(str(value))
    try:
        # A later call may change it.
        value = copy.deepcopy(value)
    except Exception:
        pass
    shown.append(value)


names = {"__name__": "__main__", "print": show}
print(CALLING)
sys.stdout.flush()
try:
    exec(compile(SOURCE, "<lines>", "exec"), names)
except Exception as error:
    print(RAISED + json.dumps([type(error).__name__, str(error)]))
for text in texts:
    print(SHOWN + json.dumps(text))
if TAIL and len(shown) == 2:
    observed, expected = shown if FIRST else reversed(shown)
    if FOREIGN:
        observed, expected = native(observed), native(expected)
    exec(compile(TAIL, "<comparison>", "exec"), names)
    if names["check"](observed, expected)[0]:
        print(WRONG)
"#;

const NATIVE: &str = r#"
def native(value):
    import numpy

    if isinstance(value, (list, tuple)):
        return [native(item) for item in value]
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if hasattr(value, "numpy") or hasattr(value, "block_until_ready"):
        value = numpy.asarray(value)
        return value if value.dtype.kind in "biufc" else value.astype("float32")
    return value
"#;

/// One way to write a check as plain lines.
pub(crate) struct Trial {
    flat: Flat,
    kind: OutcomeKind,
    observed: String,
    expected: String,
    folders: Vec<String>,
}

/// The ways to write the check of this finding, the shortest first; none where nothing is to be
/// compared or a run costs all the time there is.
pub(crate) fn trials(finding: &Finding) -> Vec<Trial> {
    let kind = finding.verdict.kind;
    let Some(report) = report_of(&finding.verdict, &finding.execution) else {
        return Vec::new();
    };
    if matches!(kind, OutcomeKind::Timeout | OutcomeKind::OutOfMemory) {
        return Vec::new();
    }
    let mut found: Vec<Trial> = Vec::new();
    for (rebuilt, elements) in [(false, false), (true, false), (false, true), (true, true)] {
        let reading = Reading { rebuilt, elements };
        let flat = Flat::new(&finding.api, &finding.input, &report.check, reading);
        let Some(flat) = flat.filter(|flat| !found.iter().any(|known| known.flat == *flat)) else {
            continue;
        };
        found.push(Trial {
            flat,
            kind,
            observed: report.observed.trim().to_owned(),
            expected: report.expected.trim().to_owned(),
            folders: finding
                .api
                .folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect(),
        });
    }
    found
}

impl Trial {
    /// Runs the lines, and tells what they printed and whether it is wrong.
    pub(crate) fn script(&self) -> String {
        let first = self
            .flat
            .parts
            .iter()
            .find(|part| matches!(part, super::Part::Observed(_) | super::Part::Expected(_)));
        let first = matches!(first, Some(super::Part::Observed(_)));
        let tail = match &self.flat.tail {
            Some(tail) => literal::text(&format!("def check(observed, expected):\n{tail}")),
            None => "None".to_owned(),
        };
        let truth = |it: bool| if it { "True" } else { "False" };
        let mut text = String::from("import copy\nimport json\nimport sys\n\n");
        for folder in &self.folders {
            text.push_str(&format!("sys.path.append({})\n", literal::text(folder)));
        }
        for (name, value) in [
            ("SOURCE", literal::text(&self.flat.code())),
            ("TAIL", tail),
            ("FIRST", truth(first).to_owned()),
            ("FOREIGN", truth(self.flat.foreign).to_owned()),
            ("CALLING", literal::text(CALLING)),
            ("SHOWN", literal::text(SHOWN)),
            ("RAISED", literal::text(RAISED)),
            ("WRONG", literal::text(WRONG)),
        ] {
            text.push_str(&format!("{name} = {value}\n"));
        }
        text.push_str(NATIVE);
        text.push_str(HARNESS);
        text
    }

    /// The lines with what they printed, when that is the failure.
    pub(crate) fn shown_by(&self, run: &ScriptRun) -> Option<String> {
        if !matches!(self.kind, OutcomeKind::WrongResult | OutcomeKind::Nan) {
            return reproduces(self.kind, run).then(|| self.flat.code());
        }
        let after = |start: &str| -> Vec<&str> {
            run.log
                .lines()
                .filter_map(|line| line.strip_prefix(start))
                .collect()
        };
        let raised = after(RAISED).into_iter().next();
        if self.flat.fails() {
            let (class, message): (String, String) = serde_json::from_str(raised?).ok()?;
            let first = message.lines().next().unwrap_or_default();
            return self
                .observed
                .starts_with(&class)
                .then(|| self.flat.with(&[shortened(&format!("{class}: {first}"))]));
        }
        if raised.is_some() {
            return None;
        }
        let shown: Vec<String> = after(SHOWN)
            .into_iter()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .ok()?;
        let fits = |text: &String| {
            text.lines().count() <= LINES && text.lines().all(|line| line.chars().count() <= WIDTH)
        };
        if shown.is_empty() || !shown.iter().all(fits) {
            return None;
        }
        let is_wrong = match &self.flat.tail {
            Some(_) => run.log.lines().any(|line| line == WRONG) && differ(&shown),
            None => self.is_said(&shown),
        };
        is_wrong.then(|| self.flat.with(&shown))
    }

    /// What was printed is what the oracle said.
    fn is_said(&self, shown: &[String]) -> bool {
        let mut shown = shown.iter();
        let mut printed = false;
        let all = self.flat.parts.iter().all(|part| {
            let said = match part {
                super::Part::Observed(_) => &self.observed,
                super::Part::Expected(_) => &self.expected,
                _ => return true,
            };
            printed = true;
            shown.next().is_some_and(|text| text.trim() == said)
        });
        printed && all
    }
}

/// A reader sees that it is not the same: what printing rounds away does not show anything.
fn differ(shown: &[String]) -> bool {
    shown.windows(2).all(|pair| pair[0] != pair[1])
}
