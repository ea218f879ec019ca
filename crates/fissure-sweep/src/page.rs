//! A sweep as one HTML page: the table of errors, and for each function a plot of error against value.

use std::fmt::Write;

use crate::report::{Finding, Profile, Report};

/// Of a plot, in pixels.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;
/// The top of the axis: errors beyond are drawn there.
const TOP: f64 = 1e6;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Accuracy</title><style>\
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}\
svg{background:#8881;display:block}code{font-size:.9em}h2{margin-top:2em}.wrong{color:#c22}\
text{font-size:10px;fill:#888}</style>";

/// The page; it needs nothing else.
pub fn page(report: &Report) -> String {
    let mut text = String::from(HEAD);
    let _ = write!(
        text,
        "<h1>{} {}: accuracy of elementwise functions</h1><p>Each plot: the largest error, in units in the last place \
         (logarithmic), over the numbers of the type in their order. Red: intervals that are wrong.</p>",
        escaped(&report.library),
        escaped(&report.version)
    );
    for profile in &report.profiles {
        let _ = write!(
            text,
            "<h2>{} <small>{}</small></h2><p>largest error {} at {}</p>",
            escaped(&profile.function),
            escaped(&profile.dtype),
            profile
                .worst
                .map_or("unknown".to_owned(), |worst| format!("{worst:.2}")),
            escaped(profile.worst_at.as_deref().unwrap_or("-")),
        );
        if !profile.plot.is_empty() {
            text.push_str(&plot(profile));
        }
        for finding in &profile.findings {
            let _ = write!(
                text,
                "<p class=wrong>{}: from {} to {}, {} elements; {} gives {}, not {}<br><code>{}</code></p>",
                escaped(&finding.kind),
                escaped(&finding.from),
                escaped(&finding.bound()),
                finding.count,
                escaped(&finding.value),
                escaped(&finding.observed),
                escaped(&finding.expected),
                escaped(&finding.script)
            );
        }
    }
    text.push_str("</html>\n");
    text
}

/// Error against value, as SVG.
fn plot(profile: &Profile) -> String {
    let across = |step: usize| WIDTH * step as f64 / profile.plot.len() as f64;
    let up = |error: f64| {
        HEIGHT - 4.0 - (HEIGHT - 8.0) * (1.0 + error.min(TOP)).log10() / (1.0 + TOP).log10()
    };
    let mut text = format!("<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">");
    for finding in &profile.findings {
        if let Some((from, to)) = steps(profile, finding) {
            let _ = write!(
                text,
                "<rect x=\"{:.1}\" width=\"{:.1}\" height=\"{HEIGHT}\" fill=\"#c22\" opacity=\".25\"/>",
                across(from),
                across(to + 1 - from)
            );
        }
    }
    for mark in [1.0, 1e2, 1e4] {
        let _ = write!(
            text,
            "<line x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#8884\"/><text x=\"2\" y=\"{0:.1}\">{mark}</text>",
            up(mark)
        );
    }
    let points: Vec<String> = (profile.plot.iter().enumerate())
        .map(|(step, (_, error))| format!("{:.1},{:.1}", across(step), up(*error)))
        .collect();
    let _ = write!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#36c\"/>",
        points.join(" ")
    );
    for share in [0.0, 0.25, 0.5, 0.75] {
        let step = (share * profile.plot.len() as f64) as usize;
        if let Some((number, _)) = profile.plot.get(step) {
            let _ = write!(
                text,
                "<text x=\"{:.0}\" y=\"{:.0}\">{number:.3e}</text>",
                across(step),
                HEIGHT - 1.0
            );
        }
    }
    text.push_str("</svg>");
    text
}

/// The steps of a plot that an interval covers.
fn steps(profile: &Profile, finding: &Finding) -> Option<(usize, usize)> {
    let low: f64 = finding.from.parse().ok()?;
    let high: f64 = finding.to.parse().ok()?;
    let after = profile.plot.iter().position(|(number, _)| *number >= low);
    let before = profile.plot.iter().rposition(|(number, _)| *number <= high);
    let from = after.unwrap_or(profile.plot.len() - 1);
    Some((from, before.unwrap_or(0).max(from)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_interval_is_drawn_where_it_lies() {
        let finding = Finding {
            kind: "a < b".into(),
            from: "3.0".into(),
            to: "4.0".into(),
            count: 2,
            mirrored: false,
            alone: true,
            value: "3.5".into(),
            observed: "1".into(),
            expected: "2".into(),
            script: String::new(),
            also: Vec::new(),
            further: 0,
        };
        let profile = Profile {
            function: "m.f".into(),
            dtype: "float32".into(),
            elements: 10,
            seconds: 0.0,
            worst: Some(1.0),
            worst_at: None,
            above: Default::default(),
            classes: None,
            findings: vec![finding],
            plot: (0..10).map(|number| (f64::from(number), 0.5)).collect(),
        };
        assert_eq!(steps(&profile, &profile.findings[0]), Some((3, 4)));
        let report = Report {
            profiles: vec![profile],
            ..Report::default()
        };
        let text = page(&report);
        assert!(
            text.contains("<polyline") && text.contains("a &lt; b"),
            "{text}"
        );
        assert!(text.contains("<rect x=\"192.0\" width=\"128.0\""), "{text}");
    }
}
