//! How the screen looks.

use std::time::{Duration, Instant};

use fissure_report::human_duration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row as TableRow, Table};

use super::state::{Order, Row, Stage, State, View};

/// Rows of the head; one for each worker comes below.
const HEAD: u16 = 5;
/// Workers that are shown; more are counted.
const WORKERS: usize = 8;

pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State, now: Instant) {
    let workers = state.workers.len().min(WORKERS) as u16;
    let areas = Layout::vertical([
        Constraint::Length(HEAD),
        Constraint::Length(workers),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .split(frame.area());
    head(frame, areas[0], state, now);
    frame.render_widget(Paragraph::new(worker_lines(state)), areas[1]);
    match state.view {
        View::Apis => table(frame, areas[2], state),
        View::Findings => found(frame, areas[2], state),
        View::Help => help(frame, areas[2]),
    }
    let keys = if state.typing {
        format!("filter: {}_  (Enter keeps it, Esc clears it)", state.filter)
    } else {
        "q quit   p pause   l findings   s sort   / filter   ↑↓ move   ? help".to_owned()
    };
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Paragraph::new(Span::styled(keys, dim)), areas[3]);
}

fn head(frame: &mut Frame<'_>, area: Rect, state: &State, now: Instant) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let elapsed = now.saturating_duration_since(state.started);
    let left = state
        .remaining(now)
        .map_or("no end".to_owned(), |time| format!("{} left", clock(time)));
    let accepted = state
        .accepted_percent()
        .map_or("-".to_owned(), |share| format!("{share:.1} %"));
    let last = match &state.last {
        None => "no finding yet".to_owned(),
        Some((when, what)) => format!(
            "last {} ago: {what}",
            human_duration(now.saturating_duration_since(*when))
        ),
    };
    let triage = match state.shrinking + state.confirming {
        0 => String::new(),
        _ => format!(
            "   ({} being made smaller, {} being tried again)",
            state.shrinking, state.confirming
        ),
    };
    let found = match state.findings {
        0 => Style::new(),
        _ => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
    };
    let lines = vec![
        Line::from(vec![
            Span::styled(state.title.clone(), bold),
            Span::raw(format!("   {}", state.phase())),
        ]),
        Line::from(format!(
            "elapsed {}   {left}   {}/{} APIs",
            clock(elapsed),
            state.done(),
            state.apis
        )),
        Line::from(format!(
            "{} inputs   {:.0} inputs/s   {accepted} accepted",
            state.inputs(),
            state.rate
        )),
        Line::from(vec![
            Span::styled(format!("{} findings", state.findings), found),
            Span::raw(format!("   {last}{triage}")),
        ]),
    ];
    frame.render_widget(Paragraph::new(lines), area);
}

fn worker_lines(state: &State) -> Vec<Line<'static>> {
    let more = state.workers.len().saturating_sub(WORKERS);
    let shown = state.workers.iter().take(WORKERS).enumerate();
    shown
        .map(|(number, busy)| {
            let mut text = match busy {
                None => format!("worker {number}  idle"),
                Some(busy) if busy.judging => format!(
                    "worker {number}  judges {}  {}",
                    busy.api.title,
                    human_duration(busy.since.elapsed())
                ),
                Some(busy) => format!(
                    "worker {number}  runs {}  {}",
                    busy.api.title,
                    human_duration(busy.since.elapsed())
                ),
            };
            if more > 0 && number + 1 == WORKERS {
                text += &format!("   (and {more} more)");
            }
            Line::from(text)
        })
        .collect()
}

/// What was found so far, newest first.
fn found(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let height = usize::from(area.height.saturating_sub(2));
    let lines: Vec<&str> = state
        .lines
        .iter()
        .rev()
        .flat_map(|entry| entry.lines())
        .collect();
    state.first = state.first.min(lines.len().saturating_sub(height));
    let shown = lines.iter().skip(state.first).take(height);
    let mut shown: Vec<Line<'_>> = shown.map(|line| Line::from(*line)).collect();
    if shown.is_empty() {
        shown.push(Line::from("nothing yet"));
    }
    let title = format!(" {} findings and notes, newest first ", state.lines.len());
    frame.render_widget(
        Paragraph::new(shown).block(Block::bordered().title(title)),
        area,
    );
}

/// What the keys do.
const KEYS: [(&str, &str); 9] = [
    ("q, Ctrl-C", "end the run with its summary; again: at once"),
    ("p, space", "pause, or go on"),
    ("l, Tab", "what was found, or the APIs"),
    ("s", "sort the APIs by another column"),
    ("/, f", "only APIs whose name holds what is typed"),
    ("Esc", "all APIs again"),
    ("↑ ↓, k j", "move by a row"),
    ("PgUp PgDn Home", "move by a page, to the top"),
    ("?, h", "this help, or the APIs"),
];

fn help(frame: &mut Frame<'_>, area: Rect) {
    let lines: Vec<Line<'_>> = KEYS
        .iter()
        .map(|(keys, what)| Line::from(format!("{keys:<16}{what}")))
        .collect();
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title(" keys ")),
        area,
    );
}

fn table(frame: &mut Frame<'_>, area: Rect, state: &mut State) {
    let height = usize::from(area.height.saturating_sub(3));
    let count = state.visible().len();
    state.first = state.first.min(count.saturating_sub(height));
    let rows = state.visible();
    let order = match state.order {
        Order::Activity => "running first",
        Order::Name => "by name",
        Order::Findings => "by findings",
        Order::Inputs => "by inputs",
        Order::Accepted => "least accepted first",
    };
    let filter = match state.filter.as_str() {
        "" => String::new(),
        filter => format!(", with “{filter}”"),
    };
    let shown = rows.iter().skip(state.first).take(height);
    let cells: Vec<TableRow<'_>> = shown.map(|row| table_row(row)).collect();
    let columns = [
        Constraint::Min(24),
        Constraint::Length(8),
        Constraint::Length(10),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(8),
    ];
    let header = ["API", "state", "inputs", "accepted", "crashes", "findings"];
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let table = Table::new(cells, columns)
        .header(TableRow::new(header).style(bold))
        .block(Block::bordered().title(format!(" {count} APIs, {order}{filter} ")));
    frame.render_widget(table, area);
}

fn table_row(row: &Row) -> TableRow<'_> {
    let accepted = match row.inputs {
        0 => "-".to_owned(),
        inputs => format!("{:.1} %", 100.0 * row.accepted as f64 / inputs as f64),
    };
    let (stage, style) = match row.stage {
        Stage::Running => ("running", Style::new()),
        Stage::Queued => ("queued", Style::new().add_modifier(Modifier::DIM)),
        Stage::Done => ("done", Style::new().add_modifier(Modifier::DIM)),
        Stage::Skipped => ("skipped", Style::new().add_modifier(Modifier::DIM)),
    };
    let style = match row.findings {
        0 => style,
        _ => Style::new().fg(Color::Red),
    };
    TableRow::new([
        Cell::from(row.title.as_str()),
        Cell::from(stage),
        Cell::from(row.inputs.to_string()),
        Cell::from(accepted),
        Cell::from(row.crashes.to_string()),
        Cell::from(row.findings.to_string()),
    ])
    .style(style)
}

/// `1:02:03`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!(
        "{}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fissure_campaign::{RunEvent, Tally};
    use fissure_execute::Busy;
    use fissure_model::{Api, Intent, OutcomeKind};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::super::keys::Wish;
    use super::*;

    fn api(title: &str) -> Api {
        Api {
            title: title.into(),
            ..Api::default()
        }
    }

    /// A run of four APIs, two of them begun.
    fn state(now: Instant) -> State {
        let mut state = State::new("torch 2.9.1, seed 0".into(), 4, None, now);
        for (title, crashes) in [("torch.add", 0), ("torch.nn.functional.conv2d", 2)] {
            let mut tally = Tally::default();
            for _ in 0..8 {
                tally.add(OutcomeKind::Accepted, &Intent::Conform);
            }
            for _ in 0..crashes {
                tally.add(OutcomeKind::Crash, &Intent::Conform);
            }
            let api = api(title);
            let event = RunEvent::Progress {
                api: &api,
                tally: &tally,
                max_inputs: Some(20),
            };
            state.observe(event, now);
        }
        let busy = Busy {
            api: Arc::new(api("torch.add")),
            judging: true,
            since: now,
        };
        let event = RunEvent::Tick {
            workers: vec![Some(busy), None],
            shrinking: 1,
            confirming: 0,
        };
        state.observe(event, now + Duration::from_secs(3));
        state
    }

    fn text(state: &mut State, now: Instant) -> String {
        let mut terminal = Terminal::new(TestBackend::new(90, 20)).unwrap();
        terminal.draw(|frame| draw(frame, state, now)).unwrap();
        let buffer = terminal.backend().buffer();
        let rows = buffer.content().chunks(90);
        rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>() + "\n")
            .collect()
    }

    fn press(state: &mut State, keys: &str) -> Wish {
        let mut wish = Wish::Nothing;
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                key => KeyCode::Char(key),
            };
            wish = state.key(KeyEvent::new(code, KeyModifiers::NONE));
        }
        wish
    }

    #[test]
    fn everything_that_one_wants_to_know_is_on_the_screen() {
        let now = Instant::now();
        let mut state = state(now);
        let shown = text(&mut state, now + Duration::from_secs(60));
        for part in [
            "torch 2.9.1, seed 0   fuzz, judge, triage",
            "elapsed 0:01:00",
            "left   0/4 APIs",
            "18 inputs   6 inputs/s   88.9 % accepted",
            "0 findings   no finding yet   (1 being made smaller, 0 being tried again)",
            "worker 0  judges torch.add",
            "worker 1  idle",
            "running  10         80.0 %    2        0",
            "q quit",
        ] {
            assert!(shown.contains(part), "{part:?} is not in\n{shown}");
        }
    }

    #[test]
    fn the_time_that_is_left_follows_from_what_is_done() {
        let now = Instant::now();
        let mut state = state(now);
        // 8 of 20 and 10 of 20 inputs of two of four APIs: 0.9 of 4.
        let left = state.remaining(now + Duration::from_secs(90)).unwrap();
        assert_eq!(left.as_secs(), 310);
        state.total = Some(Duration::from_secs(100));
        let left = state.remaining(now + Duration::from_secs(90)).unwrap();
        assert_eq!(left.as_secs(), 10);
    }

    #[test]
    fn keys_sort_filter_pause_and_quit() {
        let now = Instant::now();
        let mut state = state(now);
        let first = |state: &State| state.visible()[0].title.clone();
        assert_eq!(first(&state), "torch.add");
        press(&mut state, "ss");
        assert_eq!(state.order, Order::Findings);
        assert_eq!(first(&state), "torch.nn.functional.conv2d");
        assert_eq!(press(&mut state, "/add"), Wish::Nothing);
        assert!(text(&mut state, now).contains("filter: add_"));
        press(&mut state, "\n");
        assert_eq!(state.visible().len(), 1);
        assert!(text(&mut state, now).contains("1 APIs, by findings, with “add”"));
        assert_eq!(press(&mut state, "p"), Wish::Pause);
        assert_eq!(press(&mut state, "q"), Wish::Quit);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(state.key(interrupt), Wish::Interrupt);
    }

    #[test]
    fn what_waits_what_was_found_and_what_the_keys_do_can_be_seen() {
        let now = Instant::now();
        let mut state = state(now);
        state.queue(["torch.sub".to_owned(), "torch.mul".to_owned()]);
        let shown = text(&mut state, now);
        assert!(
            shown.contains("torch.mul") && shown.contains("queued"),
            "{shown}"
        );
        assert!(shown.contains("0/4 APIs"), "{shown}");
        press(&mut state, "l");
        assert!(text(&mut state, now).contains("nothing yet"));
        state
            .lines
            .push("FOUND  torch.add crash\n       a/reproduce.py".to_owned());
        let shown = text(&mut state, now);
        assert!(shown.contains("FOUND  torch.add crash"), "{shown}");
        assert!(shown.contains("a/reproduce.py"), "{shown}");
        press(&mut state, "?");
        assert!(text(&mut state, now).contains("pause, or go on"));
        press(&mut state, "?");
        assert!(text(&mut state, now).contains("torch.nn.functional.conv2d"));
    }

    #[test]
    fn a_small_terminal_and_a_far_scroll_do_no_harm() {
        let now = Instant::now();
        let mut state = state(now);
        state.first = 1000;
        for (width, height) in [(1, 1), (5, 3), (20, 8)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(frame, &mut state, now)).unwrap();
        }
        assert!(state.first < 1000);
    }
}
