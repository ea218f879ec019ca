//! What the library itself says of an API of which no file says anything.

use fissure_discover::{
    Description, from_signature, signature_of, spec_of, suggest, with_examples, without_tensors,
};
use fissure_generate::GenerateOptions;
use fissure_model::{Api, RuleText, Signature, Spec};
use fissure_rules::RuleLibrary;

use std::sync::Arc;

use super::scout::{Answers, Question};
use super::{CampaignError, Run, Source};
use crate::ApiSummary;
use crate::index::ApiIndex;
use crate::lane::Lane;

/// Conforming inputs after which acceptance says something about rules.
const STALE_AFTER: u64 = 50;
/// Members of a module that a message names.
const NAMED: usize = 5;

impl Run<'_> {
    /// Whether an API's spec is made of what the library says: nothing is known but its name, or
    /// only rules that an earlier run found not to hold.
    pub(super) fn is_discovered(&self, at: ApiIndex) -> bool {
        let Source::Specs(specs) = self.source else {
            return false;
        };
        let unknown = specs[at].is_bare() || self.stale.contains(&specs[at]);
        unknown && !self.options.generate.unguided && !self.learned.contains_key(&at)
    }

    /// The spec of such an API, and the signature that goes with it, from the library's description
    /// and the calls of its examples; `None` where it says nothing.
    pub(super) fn discovered(
        &self,
        at: ApiIndex,
        signature: &Signature,
        description: Option<&[u8]>,
        examples: Option<&[u8]>,
    ) -> Result<Option<(Spec, Signature)>, CampaignError> {
        let Source::Specs(specs) = self.source else {
            return Ok(None);
        };
        let spec = &specs[at];
        let api = &self.apis[at];
        let description = described(api, signature, description)?;
        let Some(mut found) = spec_of(api, &description) else {
            return Ok(None);
        };
        let alias = match spec.is_bare() {
            true => rules_of_alias(&description.aliases),
            false => None,
        };
        if let Some(rules) = alias {
            // The same object: what holds for it there holds here.
            found = Spec {
                params: Vec::new(),
                layer_params: Vec::new(),
                forms: Vec::new(),
                rules: Some(rules),
                ..found
            };
            return Ok(Some((found, signature.clone())));
        }
        if self.pool.info().dtypes.is_empty() {
            found = without_tensors(found);
        }
        found.check_nan = spec.check_nan;
        if let Some(answer) = examples {
            found = with_examples(found, answer);
        }
        let signature = signature_of(&description, &signature.library_version);
        Ok(Some((found, signature)))
    }

    /// Where what a file or rules allow is mostly refused, the library is asked what it takes. Whether the API has to
    /// wait for the answer.
    pub(super) fn ask_the_library(&mut self, at: ApiIndex) -> bool {
        let asking = self.lanes.get(&at).is_some_and(Lane::asks_the_library);
        if !asking {
            return false;
        }
        let Some(answers) = self.scout.take(at) else {
            self.scout.ask_first(Question {
                at,
                path: self.apis[at].path.clone(),
                whole: true,
                patience: self.patience_for_examples(),
            });
            return true;
        };
        let answer = self.library_says(at, answers);
        if let Some(lane) = self.lanes.get_mut(&at) {
            lane.hear_the_library(answer.as_ref().map(|(spec, signature)| (spec, signature)));
        }
        false
    }

    fn library_says(&self, at: ApiIndex, answers: Answers) -> Option<(Spec, Signature)> {
        let api = Arc::clone(&self.apis[at]);
        let signature = answers.signature.ok()?;
        let description = described(&api, &signature, answers.description.as_deref()).ok()?;
        let mut found = spec_of(&api, &description)?;
        // Of a layer, the file says what is constructed and what is called.
        if found.api.layer != api.layer || found.api.path != api.path {
            return None;
        }
        if self.pool.info().dtypes.is_empty() {
            found = without_tensors(found);
        }
        if let Some(answer) = answers.examples {
            found = with_examples(found, &answer);
        }
        let signature = signature_of(&description, &signature.library_version);
        Some((found, signature))
    }

    /// How inputs are made; what is discovered is only given tensors that the library can make, what a file
    /// describes where the library lacks types that everybody uses.
    pub(super) fn generate_options(&self, discovered: bool) -> GenerateOptions {
        let mut options = self.options.generate.clone();
        let info = self.pool.info();
        let dtypes = match discovered {
            true => Some(info.dtypes.as_slice()).filter(|dtypes| !dtypes.is_empty()),
            false => info.only_dtypes(),
        };
        if let Some(dtypes) = dtypes {
            options.dtypes.get_or_insert_with(|| dtypes.to_vec());
        }
        options
    }

    /// What is to be said of rules that fewer than half of the inputs which satisfy them are
    /// accepted by this version of the library.
    pub(super) fn staleness(&self, at: ApiIndex, summary: &ApiSummary) -> Option<String> {
        let Source::Specs(specs) = self.source else {
            return None;
        };
        if specs[at].rules.is_none() || self.stale.contains(&specs[at]) {
            return None;
        }
        let tally = &summary.tally;
        let stale =
            tally.conforming >= STALE_AFTER && 2 * tally.conforming_accepted < tally.conforming;
        stale.then(|| {
            let kept = self
                .stale
                .mark(&specs[at], tally.conforming, tally.conforming_accepted);
            let next = match kept {
                true => "the next run asks the library itself; ",
                false => "",
            };
            let rate = 100.0 * tally.conforming_accepted as f64 / tally.conforming as f64;
            format!(
                "{}: its rules are stale for {} {}: {rate:.0} % of the inputs that satisfy them are \
                 accepted ({next}fissure learn {} learns them anew)",
                summary.api.title,
                summary.api.package,
                self.pool.info().library_version,
                summary.api.title,
            )
        })
    }

    /// Names of the library that may have been meant by one that it does not have.
    pub(super) fn meant(&self, path: &str) -> String {
        let names = self.pool.neighbours(path).unwrap_or_default();
        let close = suggest(path, names.iter().map(String::as_str));
        match close.as_slice() {
            [] => String::new(),
            close => format!("; did you mean {}?", close.join(", ")),
        }
    }

    /// Why something that is there cannot be fuzzed: a module, with some of what is in it, or a value.
    pub(super) fn not_callable(&self, path: &str) -> String {
        let members = self
            .pool
            .neighbours(&format!("{path}.*"))
            .unwrap_or_default();
        let below = format!("{path}.");
        let inside: Vec<&str> = members
            .iter()
            .filter(|name| name.starts_with(&below))
            .map(String::as_str)
            .filter(|name| self.pool.describe(name).is_ok_and(|it| it.callable))
            .take(NAMED)
            .collect();
        match inside.as_slice() {
            [] => "not callable".to_owned(),
            some => format!(
                "not callable; what is in it is: {} (fissure apis {path} lists all)",
                some.join(", ")
            ),
        }
    }
}

/// All that the library told; at least what its signature does.
fn described(
    api: &Api,
    signature: &Signature,
    answer: Option<&[u8]>,
) -> Result<Description, CampaignError> {
    let plain = || from_signature(&api.path, signature);
    let Some(answer) = answer else {
        return Ok(plain());
    };
    let description = Description::from_json(answer)
        .map_err(|error| CampaignError::Pool(format!("an answer is not readable: {error}")))?;
    Ok(if description.forms.is_empty() {
        plain()
    } else {
        description
    })
}

/// The rules that are known of the same object under another name.
fn rules_of_alias(aliases: &[String]) -> Option<RuleText> {
    let library = RuleLibrary::new(&[]).ok()?;
    aliases.iter().find_map(|alias| {
        let title = match alias.strip_prefix("tensorflow.") {
            Some(rest) => format!("tf.{rest}"),
            None => alias.clone(),
        };
        let sheets = library.find(&title).ok()?;
        let same = sheets.into_iter().find(|sheet| sheet.title == title)?;
        Some(same.text)
    })
}
