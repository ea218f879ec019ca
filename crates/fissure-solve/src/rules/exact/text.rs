//! SMT-LIB as text. The few simplifications keep queries short enough to read.

/// A number of a query, and the condition under which it has a value.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub text: String,
    /// Of sort Int; otherwise Real.
    pub whole: bool,
    pub defined: String,
}

impl Number {
    pub(super) fn constant(value: f64) -> Self {
        let whole = value.fract() == 0.0;
        Number {
            text: if whole {
                integer(value as i64)
            } else {
                real(value)
            },
            whole,
            defined: truth(true),
        }
    }

    pub(super) fn whole(text: impl Into<String>) -> Self {
        Number {
            text: text.into(),
            whole: true,
            defined: truth(true),
        }
    }

    pub(super) fn undefined() -> Self {
        Number {
            text: "0".to_owned(),
            whole: true,
            defined: truth(false),
        }
    }

    pub(super) fn as_real(&self) -> String {
        if self.whole {
            format!("(to_real {})", self.text)
        } else {
            self.text.clone()
        }
    }

    /// The value of the first case whose condition holds.
    pub(super) fn of_cases(cases: Vec<(String, Number)>) -> Number {
        let whole = cases.iter().all(|(_, number)| number.whole);
        let sorted = |number: &Number| {
            if whole {
                number.text.clone()
            } else {
                number.as_real()
            }
        };
        let mut text = if whole { "0" } else { "0.0" }.to_owned();
        let mut defined = Vec::new();
        for (condition, number) in cases.iter().rev() {
            text = choose(condition, &sorted(number), &text);
            defined.push(all([condition.clone(), number.defined.clone()]));
        }
        Number {
            text,
            whole,
            defined: any(defined),
        }
    }

    /// Two numbers of the same sort, for an operator that needs that.
    pub(super) fn alike(left: &Number, right: &Number) -> (String, String, bool) {
        if left.whole && right.whole {
            (left.text.clone(), right.text.clone(), true)
        } else {
            (left.as_real(), right.as_real(), false)
        }
    }
}

pub(super) fn truth(value: bool) -> String {
    if value { "true" } else { "false" }.to_owned()
}

pub(super) fn integer(value: i64) -> String {
    if value < 0 {
        format!("(- {})", value.unsigned_abs())
    } else {
        value.to_string()
    }
}

fn real(value: f64) -> String {
    // Exact: every float is a whole number over a power of two. Beyond this scale the nearest one
    // is taken, which no rule of a person depends on.
    let scale = 1u64 << 40;
    let numerator = value * scale as f64;
    if numerator.abs() < 9e18 {
        format!(
            "(/ (to_real {}) (to_real {scale}))",
            integer(numerator as i64)
        )
    } else {
        format!("(to_real {})", integer(value as i64))
    }
}

pub(super) fn all(parts: impl IntoIterator<Item = String>) -> String {
    joined("and", "true", "false", parts)
}

pub(super) fn any(parts: impl IntoIterator<Item = String>) -> String {
    joined("or", "false", "true", parts)
}

/// `neutral` parts are left out, one `decisive` part is the whole.
fn joined(
    word: &str,
    neutral: &str,
    decisive: &str,
    parts: impl IntoIterator<Item = String>,
) -> String {
    let mut kept: Vec<String> = Vec::new();
    for part in parts {
        if part == decisive {
            return part;
        }
        if part != neutral && !kept.contains(&part) {
            kept.push(part);
        }
    }
    match kept.len() {
        0 => neutral.to_owned(),
        1 => kept.remove(0),
        _ => format!("({word} {})", kept.join(" ")),
    }
}

pub(super) fn not(part: &str) -> String {
    match part {
        "true" => truth(false),
        "false" => truth(true),
        other => format!("(not {other})"),
    }
}

pub(super) fn choose(condition: &str, then: &str, other: &str) -> String {
    match condition {
        "true" => then.to_owned(),
        "false" => other.to_owned(),
        _ if then == other => then.to_owned(),
        _ => format!("(ite {condition} {then} {other})"),
    }
}

pub(super) fn equal(left: &str, right: &str) -> String {
    if left == right {
        truth(true)
    } else {
        format!("(= {left} {right})")
    }
}

/// The item at a position that is itself calculated.
pub(super) fn select(items: &[String], index: &str) -> String {
    if let Ok(position) = index.parse::<usize>() {
        return items
            .get(position)
            .cloned()
            .unwrap_or_else(|| "0".to_owned());
    }
    let mut text = "0".to_owned();
    for (position, item) in items.iter().enumerate().rev() {
        text = choose(&equal(index, &position.to_string()), item, &text);
    }
    text
}
