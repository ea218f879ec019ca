//! What keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::state::{Order, State, View};

/// What a key asks of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    /// Pause, or go on.
    Pause,
    /// End the run: what was done is what was wanted.
    Quit,
    /// The same by Ctrl-C, which the exit code tells.
    Interrupt,
}

/// Rows that a page key moves.
const PAGE: usize = 10;

impl State {
    pub(super) fn key(&mut self, key: KeyEvent) -> Wish {
        if key.kind == KeyEventKind::Release {
            return Wish::Nothing;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Wish::Interrupt,
                _ => Wish::Nothing,
            };
        }
        if self.typing {
            self.type_filter(key.code);
            return Wish::Nothing;
        }
        match key.code {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Char('p' | ' ') => return Wish::Pause,
            KeyCode::Char('?' | 'h') => self.toggle(View::Help),
            KeyCode::Char('l') | KeyCode::Tab => self.toggle(View::Findings),
            KeyCode::Char('s') => self.order = self.order.next(),
            KeyCode::Char('/' | 'f') => self.typing = true,
            KeyCode::Esc => {
                self.filter.clear();
                self.view = View::Apis;
            }
            KeyCode::Down | KeyCode::Char('j') => self.first += 1,
            KeyCode::Up | KeyCode::Char('k') => self.first = self.first.saturating_sub(1),
            KeyCode::PageDown => self.first += PAGE,
            KeyCode::PageUp => self.first = self.first.saturating_sub(PAGE),
            KeyCode::Home => self.first = 0,
            _ => {}
        }
        Wish::Nothing
    }

    /// Shows something, or the APIs again.
    fn toggle(&mut self, view: View) {
        self.view = match self.view == view {
            true => View::Apis,
            false => view,
        };
        self.first = 0;
    }

    fn type_filter(&mut self, code: KeyCode) {
        self.first = 0;
        match code {
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => {
                self.typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(letter) => self.filter.push(letter),
            _ => {}
        }
    }
}

impl Order {
    fn next(self) -> Order {
        match self {
            Order::Activity => Order::Name,
            Order::Name => Order::Findings,
            Order::Findings => Order::Inputs,
            Order::Inputs => Order::Accepted,
            Order::Accepted => Order::Activity,
        }
    }
}
