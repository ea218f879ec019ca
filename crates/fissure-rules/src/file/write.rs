//! Writing rule files.

use std::fmt::{self, Display, Formatter};

use crate::check::parameters_of;
use crate::file::{FileParam, NamedRule, Place, RuleFile};
use crate::printer::text;

impl Display for RuleFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(api) = &self.api {
            writeln!(f, "api {api}")?;
        }
        if let Some(library) = &self.library {
            writeln!(f, "library {library}")?;
        }
        if let Some(seed) = self.seed {
            writeln!(f, "seed {seed}")?;
        }
        if !self.params.is_empty() || !self.call_params.is_empty() {
            writeln!(f)?;
        }
        for (word, params) in [("param", &self.params), ("call", &self.call_params)] {
            for param in params {
                writeln!(f, "{word} {param}")?;
            }
        }
        let declarations = self.declarations();
        for rule in &self.rules {
            writeln!(f)?;
            // The types of the parameters as the file declares them need no repetition.
            if parameters_of(&rule.rule.body, &declarations) == rule.rule.params {
                writeln!(f, "rule {}: {}", rule.name, rule.rule.body)?;
            } else {
                writeln!(f, "rule {}: {}", rule.name, rule.rule)?;
            }
            write_notes(f, rule)?;
        }
        Ok(())
    }
}

impl Display for FileParam {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = Place::WORDS.iter().find(|(_, place)| *place == self.place);
        if let Some((word, _)) = word {
            write!(f, "{word} ")?;
        }
        write!(f, "{}", self.declaration)?;
        match &self.default {
            Some(default) => write!(f, " = {default}"),
            None => Ok(()),
        }
    }
}

fn write_notes(f: &mut Formatter<'_>, rule: &NamedRule) -> fmt::Result {
    if let Some(about) = &rule.about {
        writeln!(f, "  about {}", text(about))?;
    }
    if let Some(accepted) = rule.evidence.accepted {
        writeln!(f, "  accepted {accepted}")?;
    }
    if let Some((rejected, tried)) = rule.evidence.rejected {
        writeln!(f, "  rejected {rejected} of {tried}")?;
    }
    if let Some(reason) = &rule.evidence.reason {
        writeln!(f, "  reason {}", text(reason))?;
    }
    Ok(())
}
