//! Run folders of any size, made without running anything. Also for the benchmark of reports and
//! for the tests of the command line.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use fissure_campaign::{
    ApiIndex, BehaviourCounts, EventLog, FORMAT, Record, RunHeader, Stamped, Tally,
};
use fissure_model::{Api, Confidence, Finding, Intent, OutcomeKind, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

/// Text that would do harm where it is taken for markup.
pub(crate) const HOSTILE: &str = "</script><script>document.title='harmed'</script><img src=x onerror=\"document.title='harmed'\">";

/// When made runs begin, in seconds since 1970.
const BEGAN: u64 = 1_790_000_000;

pub(crate) struct MadeRun {
    pub apis: usize,
    /// Batches of all APIs together, one each tenth of a second.
    pub batches: u64,
    pub findings: usize,
}

impl MadeRun {
    /// Writes a run that has ended.
    pub(crate) fn write(&self, folder: &Path) {
        self.begin(folder);
        self.go_on(folder, 0);
        self.end(folder);
    }

    /// What a process writes first.
    pub(crate) fn begin(&self, folder: &Path) {
        fs::create_dir_all(folder.join("findings")).unwrap();
        let header = header(folder);
        let text = serde_json::to_vec_pretty(&header).unwrap();
        fs::write(folder.join("run.json"), text).unwrap();
        let mut log = EventLog::open(folder).unwrap();
        append(&mut log, 0.0, &Record::Run(header));
        for at in 0..self.apis {
            let api = api(at).title;
            let at = ApiIndex::new(at);
            append(&mut log, 0.0, &Record::Started { at, api });
        }
    }

    /// Batches and findings, numbered from `first`.
    pub(crate) fn go_on(&self, folder: &Path, first: usize) {
        let mut log = EventLog::open(folder).unwrap();
        for index in 0..self.batches {
            append(&mut log, index as f64 / 10.0, &batch(index, self.apis));
        }
        let seconds = self.batches as f64 / 10.0;
        for number in first..first + self.findings {
            let finding = finding(number, self.apis, "RuntimeError: planted");
            write_quickly(&folder.join("findings"), &finding);
            append(&mut log, seconds, &found(number, self.apis, &finding));
        }
    }

    pub(crate) fn end(&self, folder: &Path) {
        let mut log = EventLog::open(folder).unwrap();
        let seconds = self.batches as f64 / 10.0 + 1.0;
        for at in 0..self.apis {
            append(&mut log, seconds, &finished(at));
        }
        append(&mut log, seconds, &Record::End { interrupted: false });
    }
}

/// A finding every text of which is hostile.
pub(crate) fn hostile_finding() -> Finding {
    let mut finding = finding(0, 1, HOSTILE);
    finding.id = "hostile".to_owned();
    finding.signature = "hostile".to_owned();
    finding.verdict.detail = HOSTILE.to_owned();
    finding.api.title = format!("torch.{HOSTILE}");
    finding.remarks = vec![HOSTILE.to_owned()];
    finding.also_through = vec![HOSTILE.to_owned()];
    finding.roles[0].tried = HOSTILE.to_owned();
    finding.execution.log = Some(HOSTILE.to_owned());
    finding.input.arguments[0].value = fissure_model::Value::Text(HOSTILE.to_owned());
    finding
}

/// Tells the log that a failure was met, so many seconds after the beginning.
pub(crate) fn meet(folder: &Path, seconds: f64, id: &str) {
    let seen = Record::Seen {
        at: ApiIndex::new(0),
        api: api(0).title,
        id: id.to_owned(),
        number: 0,
        judging: false,
    };
    append(&mut EventLog::open(folder).unwrap(), seconds, &seen);
}

/// Tells the log of a finding.
pub(crate) fn tell(folder: &Path, finding: &Finding) {
    let mut log = EventLog::open(folder).unwrap();
    append(&mut log, 1.0, &found(0, 1, finding));
}

pub(crate) fn finding(number: usize, apis: usize, message: &str) -> Finding {
    let api = api(number % apis.max(1));
    let kinds = [
        (OutcomeKind::Crash, Confidence::Crash, "SIGSEGV"),
        (
            OutcomeKind::InternalError,
            Confidence::InternalError,
            "RuntimeError",
        ),
        (
            OutcomeKind::WrongResult,
            Confidence::Contract,
            "layout: values",
        ),
        (OutcomeKind::Timeout, Confidence::Performance, "hang"),
    ];
    let (kind, confidence, detail) = kinds[number % kinds.len()];
    // As JSON: what findings get later has its default here.
    let finding = json!({
        "id": format!("{}-{kind}-{number:05}", api.title),
        "verdict": Verdict {
            kind,
            oracle: "fatal-signal".into(),
            confidence,
            detail: detail.into(),
            note: number % 10 == 9,
        },
        "signature": format!("api {}\nkind {kind}\nnumber {number}", api.title),
        "api": api,
        "input": {
            "number": number,
            "arguments": [{"name": "dim", "passing": "keyword", "value": {"int": number}}],
            "layer_arguments": null,
            "intent": "conform",
            "mutations": [],
        },
        "roles": [{"parameter": "dim", "matters": true, "tried": "no longer fails when 0, 1"}],
        "environment": [["CPU", "x86_64"]],
        "execution": {
            "number": number,
            "outcome": {"rejected": {"class": "RuntimeError", "message": format!("{message} {number}")}},
            "duration": Duration::from_millis(3),
            "log": "Fatal Python error: Segmentation fault\n".repeat(8),
        },
        "reproduction": {"failures": if number % 7 == 6 { 2 } else { 3 }, "runs": 3},
        "library_version": "2.9.1",
        "python_version": "3.11.7",
        "seed": 7,
    });
    serde_json::from_value(finding).unwrap()
}

fn header(folder: &Path) -> RunHeader {
    RunHeader {
        format: FORMAT,
        fissure_version: "0.1.0".into(),
        command: vec!["fissure".into(), "fuzz".into(), "torch.*".into()],
        folder: folder.to_owned(),
        seed: 7,
        package: "torch".into(),
        library_version: "2.9.1".into(),
        python_version: "3.11.7".into(),
        python: "python3".into(),
        workers: 2,
        started_unix: BEGAN,
    }
}

fn api(at: usize) -> Api {
    Api {
        title: format!("torch.function_{at}"),
        package: "torch".into(),
        path: format!("torch.function_{at}"),
        version: "2.9".into(),
        ..Api::default()
    }
}

fn batch(index: u64, apis: usize) -> Value {
    let at = index as usize % apis.max(1);
    json!({
        "event": "batch",
        "at": at,
        "api": api(at).title,
        "index": index,
        "first": index * 64,
        "inputs": 64,
        "accepted": 32,
        "rejected": 28,
        "other": 4,
        "outcomes": "aaaaaaaarrrrrrrc".repeat(4),
        "busy": 0.01,
        "reached": BehaviourCounts {
            behaviours: index / apis.max(1) as u64 + 1,
            reasons: 3,
            dtype_ranks: 5,
            mutations: 2,
        },
    })
}

fn found(number: usize, apis: usize, finding: &Finding) -> Record {
    let tried = finding.reproduction.unwrap();
    Record::Found {
        at: ApiIndex::new(number % apis.max(1)),
        api: finding.api.title.clone(),
        id: finding.id.clone(),
        kind: finding.verdict.kind,
        number: finding.input.number,
        failures: tried.failures,
        runs: tried.runs,
        note: finding.is_note(),
        early: false,
    }
}

fn finished(at: usize) -> Value {
    let mut tally = Tally::default();
    for number in 0..100 {
        let kind = match number % 10 {
            0 => OutcomeKind::Rejected,
            _ => OutcomeKind::Accepted,
        };
        tally.add(kind, &Intent::Conform);
    }
    json!({
        "event": "finished",
        "at": at,
        "summary": {
            "api": api(at),
            "tally": tally,
            "elapsed": 1.0,
            "busy": 0.5,
            "end": "complete",
            "judged": 4,
            "findings": [],
            "notes": [],
            "rejections": [[format!("ValueError: {HOSTILE}"), 10]],
        },
    })
}

fn append(log: &mut EventLog, seconds: f64, record: &impl Serialize) {
    let stamped = Stamped {
        time: Some(BEGAN as f64 + seconds),
        record,
    };
    log.append(&stamped).unwrap();
}

/// The files of `write_finding`, without waiting for the disk: thousands of them are written.
fn write_quickly(findings: &Path, finding: &Finding) {
    let folder = findings.join(&finding.id);
    fs::create_dir_all(&folder).unwrap();
    let mut file = serde_json::to_value(finding).unwrap();
    let input = serde_json::json!({"format": 1, "api": finding.api, "input": finding.input});
    let fields = file.as_object_mut().unwrap();
    fields.insert("format".into(), 1.into());
    fields.insert("log_captured".into(), true.into());
    let execution = fields.remove("execution").unwrap();
    for name in ["outcome", "duration"] {
        fields.insert(name.into(), execution[name].clone());
    }
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    write("finding.json", file.to_string());
    write("input.json", input.to_string());
    write("issue.md", fissure_triage::issue(finding));
    write("reproduce.py", fissure_triage::script(finding));
    write("log.txt", finding.execution.log.clone().unwrap());
}
