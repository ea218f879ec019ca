//! YAML as a tree of texts with positions.
//!
//! Constraint files are read without YAML's guessing of types: a parameter may be called `y` or
//! `null`, and `1e-05` or `1.10` must reach us as written. So every scalar stays text here, and who
//! knows what a value means decides its type. The parser crate is used in this file only.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// Deeper nesting is no constraint file, and would only serve to exhaust the stack.
const MAXIMUM_DEPTH: usize = 32;
/// Aliases multiply nodes; this bounds what a small file can make.
const MAXIMUM_NODES: usize = 200_000;

/// A value and where it starts, both counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub line: u32,
    pub column: u32,
    pub kind: NodeKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    Text {
        text: String,
        /// Written without quotes, so that `null` and an empty text mean "nothing".
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxError {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

impl Node {
    /// The text of a scalar, `null` included.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        match &self.kind {
            NodeKind::Text { text, plain: true } => {
                matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }

    pub(crate) fn map(&self) -> Option<&[(Node, Node)]> {
        match &self.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key; of the last one, as most readers do, when it is repeated.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let (_, value) = self
            .map()?
            .iter()
            .rev()
            .find(|(name, _)| name.text() == Some(key))?;
        Some(value)
    }

    /// What this is, for messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            _ if self.is_null() => "nothing",
            NodeKind::Text { .. } => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }
}

/// Parses the only document of `text`.
pub(crate) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let mut builder = Builder {
        events: Parser::new_from_str(text),
        anchors: HashMap::new(),
        nodes: 0,
        last: (1, 1),
    };
    loop {
        match builder.next()? {
            (Event::StreamStart | Event::Nothing, _) => {}
            (Event::DocumentStart(_), _) => break,
            _ => return Err(builder.error("the file is empty")),
        }
    }
    let (event, span) = builder.next()?;
    let root = builder.node(event, span, 0)?;
    loop {
        match builder.next()? {
            (Event::DocumentEnd | Event::Nothing, _) => {}
            (Event::StreamEnd, _) => return Ok(root),
            (_, span) => {
                builder.last = position(span);
                return Err(builder.error("a second document starts here; one file is one API"));
            }
        }
    }
}

struct Builder<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    last: (u32, u32),
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), SyntaxError> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                self.last = position(span);
                Ok((event, span))
            }
            Some(Err(error)) => {
                let mark = error.marker();
                Err(SyntaxError {
                    line: number(mark.line()),
                    column: number(mark.col() + 1),
                    message: error.info().to_owned(),
                })
            }
            None => Err(self.error("the file ends too early")),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, SyntaxError> {
        self.count(1)?;
        if depth > MAXIMUM_DEPTH {
            return Err(self.error("nested too deeply for a constraint file"));
        }
        let (line, column) = position(span);
        let (anchor, kind) = match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                (
                    anchor,
                    NodeKind::Text {
                        text: text.into_owned(),
                        plain,
                    },
                )
            }
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break (anchor, NodeKind::List(items)),
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(anchor, _) => {
                let mut entries = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, _) => break (anchor, NodeKind::Map(entries)),
                        (event, span) => {
                            let key = self.node(event, span, depth + 1)?;
                            let (event, span) = self.next()?;
                            entries.push((key, self.node(event, span, depth + 1)?));
                        }
                    }
                }
            }
            Event::Alias(anchor) => {
                let Some(mut node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.error("an alias refers to itself"));
                };
                self.count(size(&node))?;
                (node.line, node.column) = (line, column);
                return Ok(node);
            }
            _ => return Err(self.error("a value is missing here")),
        };
        let node = Node { line, column, kind };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn count(&mut self, nodes: usize) -> Result<(), SyntaxError> {
        self.nodes += nodes;
        if self.nodes > MAXIMUM_NODES {
            return Err(self.error("too many values for a constraint file"));
        }
        Ok(())
    }

    fn error(&self, message: &str) -> SyntaxError {
        let (line, column) = self.last;
        SyntaxError {
            line,
            column,
            message: message.to_owned(),
        }
    }
}

fn size(node: &Node) -> usize {
    1 + match &node.kind {
        NodeKind::Text { .. } => 0,
        NodeKind::List(items) => items.iter().map(size).sum(),
        NodeKind::Map(entries) => entries
            .iter()
            .map(|(key, value)| size(key) + size(value))
            .sum(),
    }
}

fn position(span: Span) -> (u32, u32) {
    (number(span.start.line()), number(span.start.col() + 1))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_stay_text_and_know_their_line() {
        let root = parse("y: n\nlist:\n- 1e-05\n- 'null'\n- null\n- ~\n- 0x1F\n").unwrap();
        assert_eq!(root.get("y").unwrap().text(), Some("n"));
        let NodeKind::List(items) = &root.get("list").unwrap().kind else {
            panic!("{root:?}")
        };
        assert_eq!(items[0].text(), Some("1e-05"));
        assert_eq!((items[0].line, items[0].column), (3, 3));
        assert!(!items[1].is_null());
        assert!(items[2].is_null() && items[3].is_null());
        assert_eq!(items[4].text(), Some("0x1F"));
    }

    #[test]
    fn syntax_errors_have_line_and_column() {
        let error = parse("title: a\ninputs: [a, b\nlink: c\n").unwrap_err();
        assert!(error.line >= 2, "{error:?}");
        let error = parse("a: 'x\n").unwrap_err();
        assert!(!error.message.is_empty());
        assert_eq!(parse("").unwrap_err().message, "the file is empty");
        assert_eq!(parse("a: 1\n---\nb: 2\n").unwrap_err().line, 2);
    }

    #[test]
    fn aliases_are_followed_but_cannot_explode() {
        let root = parse("a: &x [1, 2]\nb: *x\n").unwrap();
        assert_eq!(root.get("b").unwrap().line, 2);
        assert_eq!(root.get("a").unwrap().kind, root.get("b").unwrap().kind);
        let mut bomb = String::from("l0: &l0 [a, a, a, a, a, a, a, a, a]\n");
        for level in 1..9 {
            let inner = vec![format!("*l{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("l{level}: &l{level} [{inner}]\n"));
        }
        assert!(parse(&bomb).unwrap_err().message.contains("too many"));
        let deep = "[".repeat(5000);
        assert!(parse(&deep).is_err());
    }
}
