//! Tables in the terminal: of any rows, and those at the end of a fuzz run.

use comfy_table::{CellAlignment, Table, presets};
use fissure_campaign::{ApiSummary, EndReason, RunSummary};
use fissure_model::{Obstacle, OutcomeKind};

use crate::human_duration;

/// One row per API: inputs, accepted %, rejected, crashes, timeouts, time.
pub fn api_table(summary: &RunSummary) -> String {
    let header = [
        "API",
        "inputs",
        "accepted",
        "conforming",
        "rejected",
        "crashes",
        "timeouts",
        "other",
        "inputs/s",
        "time",
    ];
    table(header, summary.apis.iter().map(row), Figures::AfterFirst)
}

/// Which columns of a table are figures and stand to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    None,
    AfterFirst,
}

/// The lines of a table, two blanks between columns and none at the end.
pub fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    figures: Figures,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for (position, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if position > 0 && figures == Figures::AfterFirst {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

fn row(api: &ApiSummary) -> [String; 10] {
    let tally = &api.tally;
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.1} %"));
    let counted = [
        OutcomeKind::Accepted,
        OutcomeKind::Nan,
        OutcomeKind::Rejected,
        OutcomeKind::Crash,
        OutcomeKind::Timeout,
    ];
    let other = tally.inputs - counted.iter().map(|kind| tally.count(*kind)).sum::<u64>();
    let title = match api.end {
        EndReason::Complete => api.api.title.clone(),
        EndReason::TimeUp => format!("{} (time up)", api.api.title),
        EndReason::TooManyHangs => format!("{} (left: too many hangs)", api.api.title),
        EndReason::Interrupted => format!("{} (interrupted)", api.api.title),
    };
    let seconds = api.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 {
        format!("{:.0}", tally.inputs as f64 / seconds)
    } else {
        "-".into()
    };
    [
        title,
        tally.inputs.to_string(),
        percent(tally.accepted_percent()),
        percent(tally.conforming_percent()),
        tally.count(OutcomeKind::Rejected).to_string(),
        tally.count(OutcomeKind::Crash).to_string(),
        tally.count(OutcomeKind::Timeout).to_string(),
        other.to_string(),
        rate,
        human_duration(api.elapsed),
    ]
}

/// One row per oracle that made calls of its own: inputs, reports, what it cost. Empty when none did.
pub fn oracle_table(summary: &RunSummary) -> String {
    let oracles = summary.oracles();
    if oracles.is_empty() {
        return obstacle_lines(&summary.obstacles);
    }
    let rows = oracles.iter().map(|(name, tally)| {
        let each = tally.time.as_secs_f64() / tally.inputs.max(1) as f64;
        [
            (*name).to_owned(),
            tally.inputs.to_string(),
            tally.reports.to_string(),
            human_duration(tally.time),
            format!("{:.2} ms", each * 1e3),
        ]
    });
    let header = ["oracle", "judged", "reports", "time", "per input"];
    table(header, rows, Figures::AfterFirst) + &obstacle_lines(&summary.obstacles)
}

/// Which oracles could not run, or only in part, one line for each reason.
pub(crate) fn obstacle_lines(obstacles: &[Obstacle]) -> String {
    let mut reasons: Vec<(&str, bool)> = Vec::new();
    for obstacle in obstacles {
        let reason = (obstacle.reason.as_str(), obstacle.partly);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
        .into_iter()
        .map(|(reason, partly)| {
            let names: Vec<&str> = obstacles
                .iter()
                .filter(|it| it.reason == reason && it.partly == partly)
                .map(|it| it.oracle.as_str())
                .collect();
            let what = if partly { "in part" } else { "not run" };
            format!("{what}: {} ({reason})\n", names.join(", "))
        })
        .collect()
}

/// The last line: what was found, in one sentence.
pub fn closing_line(summary: &RunSummary) -> String {
    if summary.ran_nothing() {
        let (skipped, time) = (summary.skipped.len(), human_duration(summary.elapsed));
        return format!("nothing was run: {skipped} skipped, {time}");
    }
    let total = summary.total();
    let mut line = match summary.findings {
        0 => "no finding".to_owned(),
        1 => "1 finding".to_owned(),
        n => format!("{n} findings"),
    };
    if summary.flaky > 0 {
        line += &format!(" ({} flaky)", summary.flaky);
    }
    if summary.notes > 0 {
        line += &format!(
            ", {} note{}",
            summary.notes,
            if summary.notes == 1 { "" } else { "s" }
        );
    }
    if summary.silenced > 0 {
        line += &format!(", {} silenced by known issues", summary.silenced);
    }
    line += &format!(
        " in {} inputs over {} API{}",
        total.inputs,
        summary.apis.len(),
        if summary.apis.len() == 1 { "" } else { "s" },
    );
    if !summary.skipped.is_empty() {
        line += &format!(", {} skipped", summary.skipped.len());
    }
    if summary.blocks > 0 {
        line += &format!(", {} blocks of native code", summary.blocks);
    }
    line += &format!(", {}", human_duration(summary.elapsed));
    if summary.interrupted {
        line += ", interrupted";
    }
    line
}

/// The mean over APIs of the accepted share of conforming inputs, when there are several.
pub fn acceptance_line(summary: &RunSummary) -> Option<String> {
    let mean = summary.mean_conforming_percent()?;
    (summary.apis.len() > 1).then(|| {
        format!(
            "conforming inputs accepted: {mean:.1} % in the mean over {} APIs",
            summary.apis.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fissure_campaign::Tally;
    use fissure_model::{Api, Intent};

    use super::*;

    fn summary() -> RunSummary {
        let mut tally = Tally::default();
        for kind in [
            OutcomeKind::Accepted,
            OutcomeKind::Rejected,
            OutcomeKind::Crash,
        ] {
            tally.add(kind, &Intent::Conform);
        }
        RunSummary {
            apis: vec![ApiSummary {
                api: Api {
                    title: "torch.add".into(),
                    ..Api::default()
                },
                tally,
                elapsed: Duration::from_millis(1500),
                busy: Duration::from_millis(1400),
                end: EndReason::Complete,
                findings: vec!["x".into()],
                notes: vec![],
                judged: 0,
                oracles: Default::default(),
                reached: Default::default(),
                mutators: Vec::new(),
                constraints: Vec::new(),
                rejections: vec![],
            }],
            findings: 1,
            elapsed: Duration::from_secs(200),
            ..RunSummary::default()
        }
    }

    #[test]
    fn every_column_has_its_figure() {
        let table = api_table(&summary());
        let row = table.lines().nth(1).unwrap();
        let cells: Vec<&str> = row
            .split("  ")
            .filter(|cell| !cell.trim().is_empty())
            .map(str::trim)
            .collect();
        assert_eq!(
            cells,
            [
                "torch.add",
                "3",
                "33.3 %",
                "33.3 %",
                "1",
                "1",
                "0",
                "0",
                "2",
                "1.5 s"
            ]
        );
    }

    #[test]
    fn a_run_without_any_input_does_not_say_that_nothing_was_found() {
        let summary = RunSummary {
            skipped: vec![("f".into(), "the time was up".into())],
            ..RunSummary::default()
        };
        let line = closing_line(&summary);
        assert!(line.starts_with("nothing was run: 1 skipped"), "{line}");
    }

    #[test]
    fn the_closing_line_is_one_sentence() {
        assert_eq!(
            closing_line(&summary()),
            "1 finding in 3 inputs over 1 API, 3 min 20 s"
        );
    }

    #[test]
    fn oracles_that_could_not_run_for_one_reason_share_a_line() {
        let obstacle = |oracle: &str, reason: &str, partly| Obstacle {
            oracle: oracle.into(),
            reason: reason.into(),
            partly,
        };
        let obstacles = [
            obstacle("meta", "it is for torch only", false),
            obstacle("compile", "no C++ compiler", true),
            obstacle("jit", "it is for torch only", false),
        ];
        assert_eq!(
            obstacle_lines(&obstacles),
            "not run: meta, jit (it is for torch only)\nin part: compile (no C++ compiler)\n"
        );
    }

    #[test]
    fn the_mean_acceptance_is_told_only_over_several_apis() {
        let mut summary = summary();
        assert_eq!(acceptance_line(&summary), None);
        summary.apis.push(summary.apis[0].clone());
        let line = acceptance_line(&summary).unwrap();
        assert_eq!(
            line,
            "conforming inputs accepted: 33.3 % in the mean over 2 APIs"
        );
    }
}
