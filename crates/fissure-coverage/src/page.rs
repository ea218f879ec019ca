//! Coverage as one HTML page: a map of namespaces, tables that can be searched, and how it grew.

use std::fmt::Write;

use crate::record::{CoverageRecord, Growth};
use crate::summary::{NamespaceRow, Summary};

const STYLE: &str = include_str!("../templates/page.css");
const SCRIPT: &str = include_str!("../templates/page.js");
/// Namespaces in the map.
const SHOWN: usize = 80;
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 460.0;

/// The whole page; `apis` are name, blocks and blocks that no other API reached.
pub fn page(record: &CoverageRecord, summary: &Summary, apis: &[(String, usize, usize)]) -> String {
    let data = serde_json::json!({
        "modules": summary.modules,
        "namespaces": summary.namespaces,
        "functions": summary.functions,
        "untouched": summary.untouched,
        "apis": apis,
    });
    // Nothing inside may end the element that it is in.
    let data = data.to_string().replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Coverage</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>Coverage</h1>\n<p>{} of {} blocks in {} modules; {} functions; {} APIs.</p>\n\
         <h2>Growth</h2>\n{}\n<h2>Namespaces</h2>\n\
         <p>Each area is a namespace by its number of blocks; the darker, the more of it was reached.</p>\n{}\n\
         <p><label>Search <input id=\"search\" type=\"search\" placeholder=\"at::native conv\"></label></p>\n\
         <div id=\"tables\"></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body></html>\n",
        summary.reached_blocks(),
        summary.modules.iter().map(|it| it.blocks).sum::<usize>(),
        summary.modules.len(),
        summary.functions.len(),
        apis.len(),
        curve(&record.growth),
        map(&summary.namespaces),
    )
}

/// Blocks against seconds.
fn curve(growth: &[Growth]) -> String {
    let (Some(last), Some(most)) = (growth.last(), growth.iter().map(|point| point.blocks).max())
    else {
        return "<p>Only a run that was fuzzed has a curve.</p>".to_owned();
    };
    let (width, height) = (WIDTH, 180.0);
    let seconds = (last.milliseconds as f64 / 1e3).max(1e-3);
    let mut points = format!("0,{height} ");
    let mut before = height;
    for point in growth {
        let x = point.milliseconds as f64 / 1e3 / seconds * width;
        let y = height - point.blocks as f64 / most.max(1) as f64 * (height - 12.0);
        let _ = write!(points, "{x:.1},{before:.1} {x:.1},{y:.1} ");
        before = y;
    }
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"blocks against seconds\">\
         <polyline points=\"{points}\" fill=\"none\" class=\"curve\"/></svg>\n\
         <p>{most} blocks after {} inputs and {seconds:.1} s.</p>",
        last.inputs
    )
}

/// Rectangles whose areas are the blocks of namespaces that were touched.
fn map(namespaces: &[NamespaceRow]) -> String {
    let mut rows: Vec<&NamespaceRow> = namespaces
        .iter()
        .filter(|it| it.reached_blocks > 0)
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.blocks));
    rows.truncate(SHOWN);
    let mut text =
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"namespaces\">");
    let sizes: Vec<f64> = rows.iter().map(|row| row.blocks as f64).collect();
    for (row, (x, y, width, height)) in rows.iter().zip(areas(&sizes, WIDTH, HEIGHT)) {
        let share = row.reached_blocks as f64 / row.blocks.max(1) as f64;
        let name = escaped(&row.namespace);
        let _ = write!(
            text,
            "<g><title>{name}: {} of {} blocks</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" fill-opacity=\"{:.2}\"/>",
            row.reached_blocks,
            row.blocks,
            0.08 + 0.92 * share.sqrt()
        );
        if width > 90.0 && height > 18.0 {
            let letters = (width / 7.0) as usize;
            let shown: String = row.namespace.chars().take(letters).collect();
            let _ = write!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 4.0,
                y + 13.0,
                escaped(&shown)
            );
        }
        text.push_str("</g>");
    }
    text.push_str("</svg>");
    text
}

/// Rectangles `(x, y, width, height)` with areas in proportion to sizes that fall, which fill the whole: rows along the
/// shorter side, each as long as its rectangles become squarer by it.
fn areas(sizes: &[f64], width: f64, height: f64) -> Vec<(f64, f64, f64, f64)> {
    let total: f64 = sizes.iter().sum();
    let scale = width * height / total.max(1.0);
    let (mut x, mut y, mut width, mut height) = (0.0, 0.0, width, height);
    let mut found = Vec::with_capacity(sizes.len());
    let mut rest = sizes;
    while !rest.is_empty() {
        let side = f64::min(width, height).max(1e-9);
        let worst = |row: &[f64]| {
            let area: f64 = row.iter().sum::<f64>() * scale;
            let depth = area / side;
            let ratio = |size: &f64| {
                let length = size * scale / depth;
                f64::max(length / depth, depth / length)
            };
            row.iter().map(ratio).fold(0.0, f64::max)
        };
        let mut count = 1;
        while count < rest.len() && worst(&rest[..count + 1]) <= worst(&rest[..count]) {
            count += 1;
        }
        let (row, after) = rest.split_at(count);
        let depth = row.iter().sum::<f64>() * scale / side;
        let mut along = 0.0;
        for size in row {
            let length = size * scale / depth.max(1e-9);
            found.push(match width >= height {
                true => (x, y + along, depth, length),
                false => (x + along, y, length, depth),
            });
            along += length;
        }
        if width >= height {
            x += depth;
            width -= depth;
        } else {
            y += depth;
            height -= depth;
        }
        rest = after;
    }
    found
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::FunctionRow;

    #[test]
    fn areas_fill_the_whole_in_proportion_and_do_not_overlap() {
        let sizes = [60.0, 25.0, 10.0, 4.0, 1.0];
        let found = areas(&sizes, 100.0, 50.0);
        for (size, (x, y, width, height)) in sizes.iter().zip(&found) {
            assert!((width * height - size * 50.0).abs() < 1e-6, "{found:?}");
            assert!(x + width <= 100.0 + 1e-6 && y + height <= 50.0 + 1e-6);
        }
        let overlap = |a: &(f64, f64, f64, f64), b: &(f64, f64, f64, f64)| {
            a.0 + 1e-6 < b.0 + b.2
                && b.0 + 1e-6 < a.0 + a.2
                && a.1 + 1e-6 < b.1 + b.3
                && b.1 + 1e-6 < a.1 + a.3
        };
        for (at, one) in found.iter().enumerate() {
            assert!(!found[at + 1..].iter().any(|other| overlap(one, other)));
        }
    }

    #[test]
    fn the_page_has_what_was_reached_and_what_was_not_and_no_name_ends_its_data() {
        let row = |function: &str, reached_blocks| FunctionRow {
            module: "m".into(),
            function: function.into(),
            blocks: 9,
            reached_blocks,
        };
        let summary = Summary {
            namespaces: vec![NamespaceRow {
                namespace: "at<T>".into(),
                blocks: 18,
                reached_blocks: 4,
                ..NamespaceRow::default()
            }],
            functions: vec![row("at::f</script>", 4)],
            untouched: vec![row("at::never", 0)],
            ..Summary::default()
        };
        let mut record = CoverageRecord::default();
        record.growth.push(Growth {
            milliseconds: 500,
            inputs: 7,
            blocks: 4,
        });
        let page = page(&record, &summary, &[("lib.f".into(), 4, 4)]);
        assert_eq!(page.matches("</script>").count(), 2);
        for part in [
            "at::never",
            "\\u003c/script>",
            "at&lt;T>",
            "polyline",
            "4 blocks after 7",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }
}
