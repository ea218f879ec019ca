//! A check, line by line.

use super::Part;
use super::slots::{Given, PARTS, Slots, broken, filled, places};
use super::source::{assignment, closing, has_word, inside, is_chain, split_commas, words};

/// How a check is read.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    /// The arguments are made anew for each call, for functions that change them.
    pub rebuilt: bool,
    /// Only elements that are wrong are printed, for results that fill a page.
    pub elements: bool,
}

#[derive(Default)]
pub(super) struct Read {
    pub parts: Vec<Part>,
    pub tail: Option<String>,
    pub imports: Vec<String>,
    pub foreign: bool,
}

pub(super) struct Reader<'a> {
    slots: &'a Slots,
    reading: Reading,
    given: Given,
    builds: u32,
    read: Read,
}

impl<'a> Reader<'a> {
    pub(super) fn new(slots: &'a Slots, reading: Reading) -> Self {
        Reader {
            slots,
            reading,
            given: Vec::new(),
            builds: 0,
            read: Read::default(),
        }
    }

    /// `None` when some line is not understood.
    pub(super) fn read(mut self, check: &str) -> Option<Read> {
        let blocks = blocks(check)?;
        let begin = blocks
            .iter()
            .position(|block| is_comparison(&block[0]))
            .unwrap_or(blocks.len());
        for block in &blocks[..begin] {
            if block[0] == "try:" {
                self.attempt(block)?;
                return self.finished();
            }
            match &block[..] {
                [line] => self.statement(line)?,
                lines => self.block(lines)?,
            }
        }
        let tail: Vec<String> = blocks[begin..].iter().flatten().cloned().collect();
        if tail.iter().any(|line| self.is_open(line)) {
            return None;
        }
        self.show(&tail)?;
        self.finished()
    }

    /// A line refers to `build`, `call` or their arguments.
    fn is_open(&self, text: &str) -> bool {
        ["build", "call"]
            .iter()
            .chain(&PARTS)
            .any(|word| has_word(text, word))
    }

    fn statement(&mut self, line: &str) -> Option<()> {
        if let Some(module) = line.strip_prefix("import ")
            && !module.contains(' ')
        {
            self.read.imports.push(module.to_owned());
            return Some(());
        }
        if line.ends_with(" = build()") {
            self.builds += 1;
            self.given.clone_from(&self.slots.given);
            if self.builds == 1 || self.reading.rebuilt {
                for (name, value) in &self.slots.definitions {
                    self.code(format!("{name} = {value}"));
                }
            }
            return Some(());
        }
        if let Some((0, end, key)) = places(line).into_iter().next()
            && let Some(value) = line[end..].strip_prefix(" = ")
        {
            let value = self.expression(value)?;
            match self.given.iter_mut().find(|(known, _)| *known == key) {
                Some((_, expression)) => *expression = value,
                None => self.given.push((key, value)),
            }
            return Some(());
        }
        let text = self.expression(line)?;
        if let Some(values) = text.strip_prefix("observed, expected = ")
            && let [observed, expected] = split_commas(values)[..]
        {
            for (name, value) in [("observed", observed), ("expected", expected)] {
                if name != value {
                    self.code(format!("{name} = {value}"));
                }
            }
            return Some(());
        }
        self.code(text);
        Some(())
    }

    /// A line that stands already is not needed again, unless everything is to be made anew.
    fn code(&mut self, text: String) {
        let part = Part::Code(broken(&text));
        let repeated = !self.reading.rebuilt
            && assignment(&text).is_some_and(|(name, _)| !["observed", "expected"].contains(&name))
            && self.read.parts.contains(&part);
        if !repeated {
            self.read.parts.push(part);
        }
    }

    fn block(&mut self, lines: &[String]) -> Option<()> {
        if lines[0].starts_with("def native(") {
            self.read.foreign = true;
            return Some(());
        }
        if lines[0].starts_with("def ") {
            let own = lines[0].contains("*arguments, **keywords");
            if !own && lines.iter().any(|line| self.is_open(line)) {
                return None;
            }
            self.read.parts.push(Part::Code(lines.join("\n")));
            return Some(());
        }
        let simple = |line: &String| !line.contains("build()") && !has_word(line, "return");
        if !["with ", "for ", "if "]
            .iter()
            .any(|word| lines[0].starts_with(word))
            || !lines.iter().all(simple)
        {
            return None;
        }
        let mut texts = Vec::new();
        for line in lines {
            let trimmed = line.trim_start();
            if places(trimmed)
                .first()
                .is_some_and(|(start, end, _)| *start == 0 && trimmed[*end..].starts_with(" = "))
            {
                return None;
            }
            let indent = &line[..line.len() - trimmed.len()];
            texts.push(format!("{indent}{}", self.expression(trimmed)?));
        }
        self.read.parts.push(Part::Code(texts.join("\n")));
        Some(())
    }

    /// `try: …` whose exception is the failure: its last statement fails.
    fn attempt(&mut self, lines: &[String]) -> Option<()> {
        let except = lines.iter().position(|line| line.starts_with("except "))?;
        let says = lines[except + 1..]
            .iter()
            .any(|line| line.trim_start().starts_with("return ") && line.contains("repr(error)"));
        if !says {
            return None;
        }
        let (last, before) = lines[1..except].split_last()?;
        for line in before {
            self.statement(line.strip_prefix("    ")?)?;
        }
        let line = last.strip_prefix("    ")?;
        let line = assignment(line).map_or(line, |(_, value)| value);
        let text = broken(&self.expression(line)?);
        self.read.parts.push(Part::Fails(text));
        Some(())
    }

    /// The text with calls written out and arguments in their places.
    fn expression(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        while let Some(at) = words(&text, "call").first().copied() {
            let open = at + "call".len();
            let end = text[open..]
                .starts_with('(')
                .then(|| closing(&text, open))??;
            let call = self.slots.call(&self.given)?;
            text.replace_range(at..=end, &call);
        }
        for (stars, layer) in [
            ("*layer_arguments, **layer_keywords", true),
            ("*arguments, **keywords", false),
        ] {
            text = text.replace(stars, &self.slots.starred(&self.given, layer));
        }
        if self.read.foreign {
            while let Some(at) = words(&text, "native").first().copied() {
                let open = at + "native".len();
                let end = closing(&text, open)?;
                let inner = text[open + 1..end].to_owned();
                text.replace_range(at..=end, &inner);
            }
        }
        let text = filled(&text, &self.given)?;
        (!self.is_open(&text)).then_some(text)
    }

    /// The comparison becomes prints of what it compares.
    fn show(&mut self, tail: &[String]) -> Option<()> {
        let last = tail.last()?.strip_prefix("return ")?;
        let parts = split_commas(last);
        let [_, observed, expected] = parts[..] else {
            return None;
        };
        let (observed, expected) = (Shown::of(observed), Shown::of(expected));
        if self.reading.elements {
            let lines = tail.iter().filter(|line| {
                !line.starts_with([' ']) && !line.starts_with("if ") && !line.starts_with("return ")
            });
            for line in lines {
                match line.strip_prefix("import ") {
                    Some(module) => self.read.imports.push(module.to_owned()),
                    None => self.read.parts.push(Part::Code(line.clone())),
                }
            }
            self.read.parts.push(Part::Observed(observed.part?));
            self.read.parts.extend(expected.part.map(Part::Expected));
            return Some(());
        }
        let (observed, expected) = (observed.whole?, expected.whole);
        if observed == "observed" && expected.as_deref() == Some("expected") {
            let lines: Vec<String> = tail.iter().map(|line| format!("    {line}\n")).collect();
            self.read.tail = Some(lines.concat());
        }
        self.print(&observed, Part::Observed);
        if let Some(expected) = expected {
            self.print(&expected, Part::Expected);
        }
        Some(())
    }

    /// In place of the assignment, when nothing else needs the name.
    fn print(&mut self, name: &str, part: fn(String) -> Part) {
        let parts = &mut self.read.parts;
        let is_it = |one: &Part| match one {
            Part::Code(text) => assignment(text).is_some_and(|(known, _)| known == name),
            _ => false,
        };
        let uses = parts
            .iter()
            .filter(|one| has_word(&one.text(), name))
            .count();
        match parts.iter().position(is_it) {
            Some(at) if uses == 1 => {
                let text = parts[at].text();
                let value = assignment(&text).map_or(name, |(_, value)| value);
                let value = match inside(value, "float") {
                    Some(inner) if is_chain(inner) => format!("{inner}.item()"),
                    _ => value.to_owned(),
                };
                parts[at] = part(value);
            }
            _ => parts.push(part(name.to_owned())),
        }
    }

    /// An argument that is expected to be as it was is printed before the call.
    fn before_the_call(&mut self) {
        let Some(Part::Expected(name)) = self.read.parts.last().cloned() else {
            return;
        };
        let defines = |part: &Part, name: &str| match part {
            Part::Code(text) => assignment(text).is_some_and(|(known, _)| known == name),
            _ => false,
        };
        let count = self.slots.definitions.len();
        let is_argument = self
            .slots
            .definitions
            .iter()
            .any(|(known, _)| *known == name);
        let end = self.read.parts.len() - 1;
        if !is_argument || !self.reading.rebuilt || self.builds != 2 || end < 2 * count {
            return;
        }
        let again = self.read.parts[end - count..end]
            .iter()
            .zip(&self.slots.definitions)
            .all(|(part, (name, _))| defines(part, name));
        if again {
            self.read.parts.truncate(end - count);
            self.read.parts.insert(count, Part::Expected(name));
        }
    }

    fn finished(mut self) -> Option<Read> {
        self.before_the_call();
        for (name, _) in &self.slots.definitions {
            let uses = |part: &Part| has_word(&part.text(), name);
            let defines = |part: &Part| match part {
                Part::Code(text) => assignment(text).is_some_and(|(known, _)| known == name),
                _ => false,
            };
            let parts = &self.read.parts;
            if !parts.iter().any(|part| uses(part) && !defines(part)) {
                self.read.parts.retain(|part| !defines(part));
            }
        }
        Some(self.read)
    }
}

/// What a check says of a value: the expression that it prints.
struct Shown {
    /// All of it.
    whole: Option<String>,
    /// The part that the check shows.
    part: Option<String>,
}

impl Shown {
    /// Neither, when it is only words.
    fn of(text: &str) -> Shown {
        let text = inside(text, "str")
            .or_else(|| inside(text, "repr"))
            .unwrap_or(text);
        if text.starts_with(['\'', '"']) {
            let name = text.rsplit_once(" % ").map(|(_, name)| name.to_owned());
            let name = name.filter(|name| is_chain(name));
            return Shown {
                whole: name.clone(),
                part: name,
            };
        }
        let whole = text.split("[wrong]").next().unwrap_or(text);
        Shown {
            whole: is_chain(whole).then(|| whole.to_owned()),
            part: Some(text.to_owned()),
        }
    }
}

/// From here on a check compares.
fn is_comparison(line: &str) -> bool {
    [
        "wrong = ",
        "unknown = ",
        "isnan = ",
        "infinite = ",
        "if not wrong",
        "return ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
        || line
            .strip_prefix("observed, expected = observed.")
            .is_some_and(|rest| rest.contains(", expected"))
}

/// The body of `def check():` in top-level statements with the lines that belong to them.
fn blocks(check: &str) -> Option<Vec<Vec<String>>> {
    let mut lines = check.trim_end().lines();
    (lines.next()? == "def check():").then_some(())?;
    let mut found: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let line = line.strip_prefix("    ")?.to_owned();
        let belongs = line.starts_with(' ')
            || ["except ", "except:", "finally:", "else:"]
                .iter()
                .any(|start| line.starts_with(start));
        match found.last_mut() {
            Some(block) if belongs => block.push(line),
            _ => found.push(vec![line]),
        }
    }
    (!found.is_empty()).then_some(found)
}
