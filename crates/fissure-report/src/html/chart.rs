//! Small charts as inline SVG.
//!
//! Colours are classes of the page's style sheet, so that a chart follows light and dark; that is
//! what plotting libraries, which write colours into the picture, cannot do.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;
/// Lines across the plot.
const TICKS: u32 = 4;

/// One layer of a stacked chart, or one line.
pub(super) struct Series<'a> {
    /// What the tooltip calls it.
    pub name: &'a str,
    /// Class of the style sheet that gives the colour.
    pub class: &'a str,
    pub values: Vec<f64>,
}

/// Where things are in a plot.
struct Frame {
    width: f64,
    height: f64,
    top_value: f64,
    count: usize,
}

impl Frame {
    fn new(width: f64, height: f64, largest: f64, count: usize) -> Frame {
        Frame {
            width,
            height,
            top_value: round_up(largest),
            count,
        }
    }

    /// Horizontal place of a point; the last one is at the right edge.
    fn x(&self, at: usize) -> f64 {
        let share = if self.count > 1 {
            at as f64 / (self.count - 1) as f64
        } else {
            1.0
        };
        LEFT + share * (self.width - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let share = value / self.top_value;
        TOP + (1.0 - share) * (self.height - TOP - BOTTOM)
    }

    /// Opens the picture and draws lines with their values.
    fn open(&self, label: &str) -> String {
        let mut svg = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
            self.width,
            self.height,
            escape(label)
        );
        for tick in 0..=TICKS {
            let value = self.top_value * f64::from(tick) / f64::from(TICKS);
            let y = self.y(value);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                self.width - RIGHT,
                LEFT - 6.0,
                y + 3.5,
                short_number(value)
            );
        }
        svg
    }

    /// Times below the plot.
    fn time_axis(&self, svg: &mut String, seconds: f64) {
        // A small picture has no room for more.
        let ticks = if self.width < WIDTH { 2 } else { TICKS };
        for tick in 0..=ticks {
            let share = f64::from(tick) / f64::from(ticks);
            let anchor = match tick {
                0 => "start",
                last if last == ticks => "end",
                _ => "middle",
            };
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                LEFT + share * (self.width - LEFT - RIGHT),
                self.height - 8.0,
                short_time(share * seconds)
            );
        }
    }
}

/// Layers on top of one another, over time. All series have one value per point of time.
pub(super) fn stacked(label: &str, series: &[Series<'_>], seconds: f64) -> String {
    let count = series.first().map_or(0, |first| first.values.len());
    let mut below = vec![0.0; count];
    let largest = (0..count)
        .map(|at| series.iter().map(|one| one.values[at]).sum::<f64>())
        .fold(0.0, f64::max);
    let frame = Frame::new(WIDTH, HEIGHT, largest, count);
    let mut svg = frame.open(label);
    for one in series {
        let above: Vec<f64> = below
            .iter()
            .zip(&one.values)
            .map(|(low, value)| low + value)
            .collect();
        let mut path = String::from("M");
        for (at, value) in above.iter().enumerate() {
            let _ = write!(path, "{:.1},{:.1} ", frame.x(at), frame.y(*value));
        }
        for (at, value) in below.iter().enumerate().rev() {
            let _ = write!(path, "{:.1},{:.1} ", frame.x(at), frame.y(*value));
        }
        let _ = write!(
            svg,
            "<path class=\"area {}\" d=\"{path}Z\"><title>{}</title></path>",
            one.class,
            escape(one.name)
        );
        below = above;
    }
    frame.time_axis(&mut svg, seconds);
    svg.push_str("</svg>");
    svg
}

/// One line over time, in a small picture.
pub(super) fn line(label: &str, series: &Series<'_>, seconds: f64) -> String {
    let largest = series.values.iter().copied().fold(0.0, f64::max);
    let frame = Frame::new(WIDTH / 2.0, HEIGHT * 0.7, largest, series.values.len());
    let mut svg = frame.open(label);
    let mut points = String::new();
    for (at, value) in series.values.iter().enumerate() {
        let _ = write!(points, "{:.1},{:.1} ", frame.x(at), frame.y(*value));
    }
    let _ = write!(
        svg,
        "<polyline class=\"line {}\" points=\"{points}\"><title>{}: {}</title></polyline>",
        series.class,
        escape(series.name),
        short_number(series.values.last().copied().unwrap_or(0.0))
    );
    frame.time_axis(&mut svg, seconds);
    svg.push_str("</svg>");
    svg
}

/// How many things fall into each tenth of 0 to 100 %.
pub(super) fn percent_histogram(label: &str, percents: impl Iterator<Item = f64>) -> String {
    let mut bins = [0u32; 10];
    for percent in percents {
        bins[((percent / 10.0) as usize).min(9)] += 1;
    }
    let largest = bins.iter().copied().max().unwrap_or(0);
    let frame = Frame::new(WIDTH, HEIGHT, f64::from(largest), bins.len());
    let mut svg = frame.open(label);
    let step = (WIDTH - LEFT - RIGHT) / bins.len() as f64;
    for (at, count) in bins.iter().enumerate() {
        let x = LEFT + at as f64 * step;
        let y = frame.y(f64::from(*count));
        let _ = write!(
            svg,
            "<rect class=\"bar accepted\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{count} between {} and {} %</title></rect>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}–{}</text>",
            x + 2.0,
            step - 4.0,
            frame.y(0.0) - y,
            at * 10,
            at * 10 + 10,
            x + step / 2.0,
            HEIGHT - 8.0,
            at * 10,
            at * 10 + 10,
        );
    }
    svg.push_str("</svg>");
    svg
}

/// The next number whose quarters are short, and whole where counts are small.
fn round_up(value: f64) -> f64 {
    if let Some(small) = [4.0, 8.0, 12.0, 20.0, 40.0, 60.0, 80.0]
        .into_iter()
        .find(|small| value <= *small)
    {
        return small;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 4.0, 8.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|round| *round >= value)
        .unwrap_or(10.0 * power)
}

/// `950`, `1.2k`, `3M`.
pub(super) fn short_number(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{scaled:.1}");
    format!("{}{unit}", text.trim_end_matches(".0"))
}

/// `45 s`, `3 min`, `2.5 h`.
fn short_time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0".to_owned(),
        seconds if seconds < 120.0 => (seconds, "s"),
        seconds if seconds < 7200.0 => (seconds / 60.0, "min"),
        seconds => (seconds / 3600.0, "h"),
    };
    let text = if value >= 10.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    };
    format!("{} {unit}", text.trim_end_matches(".0"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_numbers_that_people_like() {
        assert_eq!(round_up(0.0), 4.0);
        assert_eq!(round_up(7.0), 8.0);
        assert_eq!(round_up(10.0), 12.0);
        assert_eq!(round_up(41.0), 60.0);
        assert_eq!(round_up(1000.0), 1000.0);
        assert_eq!(round_up(850_001.0), 1_000_000.0);
    }

    #[test]
    fn numbers_and_times_are_short() {
        assert_eq!(short_number(12_500.0), "12.5k");
        assert_eq!(short_number(2_000_000.0), "2M");
        assert_eq!(short_number(42.0), "42");
        assert_eq!(short_time(90.0), "90 s");
        assert_eq!(short_time(9000.0), "2.5 h");
    }

    #[test]
    fn a_chart_of_nothing_and_of_one_point_is_still_a_picture() {
        for values in [vec![], vec![3.0]] {
            let series = Series {
                name: "a<b",
                class: "accepted",
                values,
            };
            let svg = stacked("rate", &[series], 1.0);
            assert!(svg.ends_with("</svg>"));
            assert!(!svg.contains("NaN") && !svg.contains("a<b"), "{svg}");
        }
    }
}
