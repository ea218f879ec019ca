//! The head of a rule: parameters and their types.

use super::Parser;
use crate::error::{RuleError, nearest};
use crate::syntax::Declaration;
use crate::types::Type;

impl Parser {
    pub(super) fn declarations(&mut self) -> Result<Vec<Declaration>, RuleError> {
        let help = "a rule is written {x: tensor, n: int} |= n <= ndim(x)";
        self.expect("{", "before the parameters of the rule")
            .map_err(|error| error.with_help(help))?;
        let mut params: Vec<Declaration> = Vec::new();
        while !self.take("}") {
            if !params.is_empty() {
                self.expect(",", "between parameters")?;
            }
            let (name, span) = self.identifier("the name of a parameter")?;
            if params.iter().any(|param| param.name == name) {
                let message = format!("the parameter `{name}` is declared twice");
                return Err(RuleError::new(message, span));
            }
            self.expect(":", "before the type of the parameter")?;
            let of = self.union()?;
            params.push(Declaration { name, of });
        }
        Ok(params)
    }

    pub(super) fn union(&mut self) -> Result<Type, RuleError> {
        let mut parts = vec![self.optional_type()?];
        while self.take("|") {
            parts.push(self.optional_type()?);
        }
        Ok(Type::any_of(parts))
    }

    fn optional_type(&mut self) -> Result<Type, RuleError> {
        self.deeper()?;
        let (word, span) = self.identifier("a type")?;
        let mut of = match word.as_str() {
            "list" | "tuple" => {
                self.expect("(", &format!("after `{word}`"))
                    .map_err(|error| error.with_help("write what it holds: list(int)"))?;
                let item = Box::new(self.union()?);
                self.expect(")", "after the type of the items")?;
                if word == "list" {
                    Type::List(item)
                } else {
                    Type::Tuple(item)
                }
            }
            word => match Type::PLAIN.into_iter().find(|(name, _)| *name == word) {
                Some((_, of)) => of,
                None => {
                    let names = Type::PLAIN.map(|(name, _)| name);
                    let known = names.iter().copied().chain(["list(…)", "tuple(…)"]);
                    let help = match nearest(word, names) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("types are {}", known.collect::<Vec<_>>().join(", ")),
                    };
                    let error = RuleError::new(format!("unknown type `{word}`"), span);
                    return Err(error.with_help(help));
                }
            },
        };
        if self.take("?") {
            of = of.optional();
        }
        self.nesting -= 1;
        Ok(of)
    }
}
