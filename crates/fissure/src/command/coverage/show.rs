//! Coverage as tables.

use fissure_coverage::{CoverageRecord, Summary};

use super::gather::{Difference, Side};

/// Blocks of each API, and those that no other API reached; most first.
pub(super) fn api_counts(record: &CoverageRecord) -> Vec<(String, usize, usize)> {
    let mut users: std::collections::BTreeMap<(usize, u32), usize> = Default::default();
    let sets: Vec<(String, Vec<_>)> = record
        .apis()
        .map(|api| (api.to_owned(), record.of_api(api)))
        .collect();
    for (_, modules) in &sets {
        for (module, blocks) in modules.iter().enumerate() {
            for block in blocks {
                *users.entry((module, *block)).or_default() += 1;
            }
        }
    }
    let mut rows: Vec<(String, usize, usize)> = sets
        .into_iter()
        .map(|(api, modules)| {
            let all = modules.iter().map(|blocks| blocks.len()).sum();
            let alone = modules
                .iter()
                .enumerate()
                .flat_map(|(module, blocks)| blocks.iter().map(move |block| (module, *block)))
                .filter(|key| users.get(key) == Some(&1))
                .count();
            (api, all, alone)
        })
        .collect();
    rows.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    rows
}

pub(super) fn text(record: &CoverageRecord, summary: &Summary, most: usize) -> String {
    let mut modules = Vec::new();
    for row in summary.modules.iter().filter(|row| row.reached_blocks > 0) {
        modules.push([
            row.module.clone(),
            row.reached_blocks.to_string(),
            row.blocks.to_string(),
            row.reached_functions.to_string(),
            row.functions.to_string(),
        ]);
    }
    let mut text = table(
        ["module", "blocks", "of", "functions", "of"],
        modules.len(),
        modules,
    );
    let untouched = summary.modules.len() - modules_reached(summary);
    if untouched > 0 {
        text += &format!("{untouched} other modules are loaded and were not reached\n\n");
    }
    let apis = api_counts(record)
        .into_iter()
        .map(|(api, all, alone)| [api, all.to_string(), alone.to_string()]);
    text += &table(["API", "blocks", "only here"], most, apis.collect());
    let namespaces = summary
        .namespaces
        .iter()
        .filter(|row| row.reached_blocks > 0);
    let namespaces = namespaces.map(|row| {
        [
            row.namespace.clone(),
            row.reached_blocks.to_string(),
            row.blocks.to_string(),
            row.reached_functions.to_string(),
            row.functions.to_string(),
        ]
    });
    text += &table(
        ["namespace", "blocks", "of", "functions", "of"],
        most,
        namespaces.collect(),
    );
    let functions = summary.functions.iter().map(|row| {
        [
            row.function.clone(),
            row.reached_blocks.to_string(),
            row.blocks.to_string(),
        ]
    });
    text += &table(["function", "blocks", "of"], most, functions.collect());
    let mut never: Vec<_> = summary
        .namespaces
        .iter()
        .filter(|row| row.reached_blocks == 0)
        .collect();
    never.sort_by_key(|row| std::cmp::Reverse(row.blocks));
    let rows = never.iter().map(|row| {
        [
            row.namespace.clone(),
            row.blocks.to_string(),
            row.functions.to_string(),
        ]
    });
    text += &table(
        ["never reached", "blocks", "functions"],
        most,
        rows.collect(),
    );
    if let (Some(first), Some(last)) = (record.growth.first(), record.growth.last()) {
        let seconds = last.milliseconds as f64 / 1e3;
        text += &format!(
            "{} blocks after the first batch, {} after {} inputs, the last new one at {seconds:.1} s\n",
            first.blocks, last.blocks, last.inputs
        );
    }
    text += &format!("{} blocks reached\n", summary.reached_blocks());
    text
}

fn modules_reached(summary: &Summary) -> usize {
    let reached = summary.modules.iter().filter(|row| row.reached_blocks > 0);
    reached.count()
}

pub(super) fn difference(difference: &Difference, titles: [&str; 2], most: usize) -> String {
    let side = |title: &str, side: &Side| {
        let rows = side
            .functions
            .iter()
            .map(|(name, blocks)| [name.clone(), blocks.to_string()]);
        format!("{title}: {} blocks\n", side.blocks)
            + &table(["function", "blocks"], most, rows.collect())
    };
    side(&format!("only in {}", titles[0]), &difference.only_first)
        + &side(&format!("only in {}", titles[1]), &difference.only_second)
        + &format!("both: {} blocks\n", difference.both)
}

/// A table of at most so many rows, an empty line behind it, and how many rows are left out.
fn table<const N: usize>(header: [&str; N], most: usize, rows: Vec<[String; N]>) -> String {
    use fissure_report::{Figures, table};
    if rows.is_empty() {
        return String::new();
    }
    let left_out = rows.len().saturating_sub(most);
    let mut text = table(header, rows.into_iter().take(most), Figures::AfterFirst);
    if left_out > 0 {
        text += &format!("… {left_out} more (--most, --json)\n");
    }
    text + "\n"
}
