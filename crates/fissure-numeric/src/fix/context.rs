//! What a rule may ask about the code around a site.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtAugAssign};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::operation::{Operation, number};
pub(super) use super::scope::{Assignment, ModuleObject};
use super::scope::{
    LibraryFinder, NameCollector, ScopeCollector, innermost_scope, is_simple_statement,
    module_objects,
};
use crate::analysis::names::{Names, dotted};
use crate::analysis::{Analysis, Form, Site, Span};

/// The site, its surroundings and the names of the file.
pub(super) struct Context<'a> {
    pub source: &'a str,
    pub module: &'a [Stmt],
    pub names: Names,
    pub range: TextRange,
    /// The statement that holds the site.
    pub statement: TextRange,
    /// Every expression of the function (or module) that holds the site.
    pub expressions: Vec<&'a Expr>,
    /// The statement `x /= y` when that is the site.
    pub augmented: Option<&'a StmtAugAssign>,
    stores: Vec<(String, TextRange)>,
    assignments: Vec<Assignment<'a>>,
    loads: Vec<(String, TextRange)>,
    parameters: Vec<String>,
    modules: Vec<ModuleObject<'a>>,
}

/// An expression seen through the variable that holds it.
#[derive(Clone, Copy)]
pub(super) struct Followed<'a> {
    pub value: &'a Expr,
    pub through: Option<Assignment<'a>>,
}

impl<'a> Context<'a> {
    /// Nothing when the site does not stand in this source.
    pub(super) fn new(
        source: &'a str,
        module: &'a [Stmt],
        analysis: &Analysis,
        site: &Site,
    ) -> Option<Context<'a>> {
        if source.get(site.span.start..site.span.end) != Some(site.text.as_str()) {
            return None;
        }
        let offset = |value: usize| TextSize::try_from(value).ok();
        let text_range = |span: Span| Some(TextRange::new(offset(span.start)?, offset(span.end)?));
        let range = text_range(site.span)?;
        let (scope, parameters) = innermost_scope(module, range, Vec::new());
        let mut collector = ScopeCollector::default();
        collector.visit_body(scope);
        let augmented = collector
            .augmented
            .into_iter()
            .find(|statement| site.form == Form::Operator && statement.range == range);
        let names = Names::of_imports(&analysis.imports);
        let modules = module_objects(module, &names);
        Some(Context {
            source,
            module,
            names,
            modules,
            range,
            statement: text_range(site.statement)?,
            expressions: collector.expressions,
            augmented,
            stores: collector.stores,
            assignments: collector.assignments,
            loads: collector.loads,
            parameters,
        })
    }

    pub(super) fn text(&self, expression: &impl Ranged) -> &'a str {
        &self.source[expression.range()]
    }

    /// The text as an operand: in parentheses unless it binds tighter than any operator.
    pub(super) fn operand_text(&self, expression: &Expr) -> String {
        let text = self.text(expression);
        if is_atomic(expression) {
            text.to_owned()
        } else {
            format!("({text})")
        }
    }

    pub(super) fn operation(&self, expression: &'a Expr) -> Option<Operation<'a>> {
        if let Expr::Call(call) = expression
            && let Some(object) = self.module_object(call)
        {
            return Operation::of_module(call, &object.class, object.made_by);
        }
        Operation::of(expression, &self.names)
    }

    /// The object of `torch.nn` that a call calls.
    pub(super) fn module_object(&self, call: &ExprCall) -> Option<&ModuleObject<'a>> {
        let name = dotted(&call.func)?;
        self.modules.iter().find(|object| object.name == name)
    }

    /// The operation behind an expression, seen through a variable, if it has one of these names.
    pub(super) fn followed_operation(
        &self,
        expression: &'a Expr,
        wanted: &[&str],
    ) -> Option<(Operation<'a>, Followed<'a>)> {
        let followed = self.follow(expression);
        let operation = self.operation(followed.value)?;
        wanted
            .contains(&operation.name.as_str())
            .then_some((operation, followed))
    }

    /// Looks through a variable that is assigned once, before, and whose value could as well be
    /// computed here.
    pub(super) fn follow(&self, expression: &'a Expr) -> Followed<'a> {
        let direct = Followed {
            value: expression,
            through: None,
        };
        let Expr::Name(name) = expression else {
            return direct;
        };
        let id = name.id.as_str();
        let stores = self.stores.iter().filter(|(stored, _)| stored == id);
        if stores.count() != 1 || self.parameters.iter().any(|parameter| parameter == id) {
            return direct;
        }
        let Some(&assignment) = self
            .assignments
            .iter()
            .find(|assignment| assignment.name == id)
        else {
            return direct;
        };
        if assignment.statement.end() > expression.start()
            || self.is_left_between(assignment.statement, expression.start())
        {
            return direct;
        }
        let mut used = NameCollector::default();
        used.visit_expr(assignment.value);
        // In a deeper block, which may be a loop, a later change counts for the next round.
        let is_deeper =
            self.indentation(expression.start()) > self.indentation(assignment.statement.start());
        let rebound = self.stores.iter().any(|(stored, range)| {
            range.start() >= assignment.statement.end()
                && (is_deeper || range.start() < expression.start())
                && used.loads.iter().any(|load| load == stored)
        });
        if rebound {
            return direct;
        }
        Followed {
            value: assignment.value,
            through: Some(assignment),
        }
    }

    /// How far the line of an offset is indented.
    fn indentation(&self, offset: TextSize) -> usize {
        let offset = offset.to_usize();
        let line_start = self.source[..offset].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.source[line_start..];
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    /// Whether the block of a statement ends before `offset`: an assignment in a branch does not
    /// always happen, and a branch must not lose its only statement.
    fn is_left_between(&self, statement: TextRange, offset: TextSize) -> bool {
        let indentation = self.indentation(statement.start());
        let end = statement.end().to_usize();
        let until = offset.to_usize();
        let until = self.source[until..]
            .find('\n')
            .map_or(self.source.len(), |length| until + length);
        self.source[end..until].lines().skip(1).any(|line| {
            let text = line.trim_start();
            let is_code = !text.is_empty() && !text.starts_with('#');
            is_code && line.len() - text.len() < indentation
        })
    }

    /// Whether the variable of an assignment is read outside these ranges.
    pub(super) fn is_read_outside(
        &self,
        assignment: &Assignment<'_>,
        ranges: &[TextRange],
    ) -> bool {
        let inside = |load: TextRange| ranges.iter().any(|range| range.contains_range(load));
        self.loads
            .iter()
            .any(|(name, load)| name == assignment.name && !inside(*load))
    }

    /// The single assignment whose value holds the site, with the name it binds.
    pub(super) fn assignment_of_site(&self) -> Option<&str> {
        self.assignments
            .iter()
            .find(|assignment| assignment.value.range().contains_range(self.range))
            .map(|assignment| assignment.name)
    }

    /// Where a statement that defines `name` can stand in front of the site's, and its indentation;
    /// nothing when the name is taken or the site's values exist only inside an expression.
    pub(super) fn place_for_helper(&self, name: &str) -> Option<(TextSize, &'a str)> {
        let is_taken = |(used, _): &(String, TextRange)| used == name;
        if self.stores.iter().any(is_taken)
            || self.loads.iter().any(is_taken)
            || self.parameters.iter().any(|parameter| parameter == name)
            || !is_simple_statement(self.module, self.statement)
        {
            return None;
        }
        let binds_names = |expression: &&Expr| {
            matches!(
                expression,
                Expr::ListComp(_)
                    | Expr::SetComp(_)
                    | Expr::DictComp(_)
                    | Expr::Generator(_)
                    | Expr::Lambda(_)
            ) && expression.range().contains_range(self.range)
        };
        if self.expressions.iter().any(binds_names) {
            return None;
        }
        let start = self.statement.start().to_usize();
        let line = self.source[..start].rfind('\n').map_or(0, |end| end + 1);
        let indentation = &self.source[line..start];
        let place = TextSize::try_from(line).ok()?;
        indentation
            .trim()
            .is_empty()
            .then_some((place, indentation))
    }

    /// The expression of the site itself; nothing for an augmented assignment.
    pub(super) fn site_expression(&self) -> Option<&'a Expr> {
        self.expressions
            .iter()
            .copied()
            .find(|expression| expression.range() == self.range)
    }

    /// Whether the site computes with NumPy: by its own names, else by what the file imports.
    pub(super) fn is_numpy(&self, root: &'a Expr) -> bool {
        let mut finder = LibraryFinder {
            names: &self.names,
            torch: false,
            numpy: false,
        };
        finder.visit_expr(root);
        if finder.torch != finder.numpy {
            return finder.numpy;
        }
        self.file_is_numpy()
    }

    /// Whether the file imports NumPy and not torch.
    pub(super) fn file_is_numpy(&self) -> bool {
        let imports = |library: &str| {
            self.names
                .imports()
                .values()
                .any(|full| full.split('.').next() == Some(library))
        };
        imports("numpy") && !imports("torch")
    }

    /// How this file writes a dotted name: `F.softplus` where `F` is imported, and so on.
    pub(super) fn spell(&self, full: &str) -> String {
        let imports = self.names.imports();
        let candidates = imports.iter().filter_map(|(local, target)| {
            if target == full {
                return Some((target.len(), local.clone()));
            }
            let rest = full.strip_prefix(target.as_str())?.strip_prefix('.')?;
            Some((target.len(), format!("{local}.{rest}")))
        });
        // The longest import is the shortest spelling.
        candidates
            .max_by_key(|(length, written)| (*length, std::cmp::Reverse(written.len())))
            .map(|(_, written)| written)
            .unwrap_or_else(|| match full.strip_prefix("numpy.") {
                Some(rest) => format!("np.{rest}"),
                None => full.to_owned(),
            })
    }

    /// A constant no larger than a usual epsilon, also through a name such as `EPSILON`.
    pub(super) fn is_epsilon(&self, expression: &'a Expr) -> bool {
        let value = match expression {
            Expr::Name(name) => self.module_constant(name.id.as_str()),
            other => number(other),
        };
        value.is_some_and(|value| value > 0.0 && value <= 1e-3)
    }

    fn module_constant(&self, name: &str) -> Option<f64> {
        self.module.iter().find_map(|statement| {
            let Stmt::Assign(assign) = statement else {
                return None;
            };
            let [Expr::Name(target)] = assign.targets.as_slice() else {
                return None;
            };
            (target.id.as_str() == name)
                .then(|| number(&assign.value))
                .flatten()
        })
    }
}

/// Names, calls, attributes, subscripts and lists need no parentheses (`2.clamp(0)` is no Python).
pub(super) fn is_atomic(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::Name(_)
            | Expr::Call(_)
            | Expr::Attribute(_)
            | Expr::Subscript(_)
            | Expr::List(_)
            | Expr::ListComp(_)
    )
}
