//! When the model is asked while an API is learned, and what becomes of its answers.

use std::sync::Arc;
use std::time::Duration;

use fissure_execute::{Pool, SandboxOptions, ScriptOptions, python_file, run_script};
use fissure_model::{Api, Signature};
use fissure_rules::Type;
use serde_json::json;

use super::proposal::candidates;
use super::{LanguageModel, ModelError, Proposals, Situation};
use crate::error::LearnError;
use crate::params::Observed;
use crate::vocabulary::Vocabulary;

const SCRIPT: &str = "fissure_worker/documentation.py";
/// What a reader has to take in of a proposed rule: more than of the simplest statements, so that
/// those win where they say the same.
const COST: u32 = 4;

/// Asked twice: before learning, for calls and rules, and again with what the library said to
/// rejected calls. Without a model nothing happens.
pub(crate) struct Consultation<'a> {
    asked: Option<(&'a LanguageModel, Situation)>,
    rules: Vec<String>,
    /// Calls that the library has not seen yet.
    pub calls: Vec<Observed>,
    /// What was of no use, one sentence each.
    pub remarks: Vec<String>,
}

impl<'a> Consultation<'a> {
    /// Asks for calls and rules.
    pub(crate) fn begin(
        model: Option<&'a LanguageModel>,
        pool: &Pool,
        api: &Api,
    ) -> Result<Self, LearnError> {
        let mut consultation = Consultation {
            asked: None,
            rules: Vec::new(),
            calls: Vec::new(),
            remarks: Vec::new(),
        };
        if let Some(model) = model {
            let situation = situation(pool, api)?;
            let proposals = consultation.ask(model, &situation)?;
            consultation.calls = proposals.inputs;
            consultation.rules = proposals.rules;
            consultation.asked = Some((model, situation));
        }
        Ok(consultation)
    }

    /// Adds the proposed rules to the statements that are tried, after asking once more with the
    /// library's own words.
    pub(crate) fn offer(
        &mut self,
        vocabulary: &mut Vocabulary,
        words: &[String],
    ) -> Result<(), LearnError> {
        let Some((model, mut situation)) = self.asked.take() else {
            return Ok(());
        };
        situation.messages = words.to_vec();
        let mut rules = std::mem::take(&mut self.rules);
        rules.extend(self.ask(model, &situation)?.rules);
        let (found, problems) = candidates(&rules, &vocabulary.params);
        self.remarks.extend(problems);
        for candidate in found {
            let views: Vec<(usize, &Type)> = candidate
                .header
                .iter()
                .map(|(param, of)| (*param, of))
                .collect();
            vocabulary.add(&views, candidate.body, None, COST);
        }
        Ok(())
    }

    /// An answer that does not come is a remark, unless none will ever come.
    fn ask(
        &mut self,
        model: &LanguageModel,
        situation: &Situation,
    ) -> Result<Proposals, LearnError> {
        match model.propose(situation) {
            Ok(mut proposals) => {
                self.remarks.append(&mut proposals.problems);
                Ok(proposals)
            }
            Err(error) if error.is_lasting() => Err(LearnError::Model(error)),
            Err(error @ (ModelError::Timeout { .. } | ModelError::Answer { .. })) => {
                self.remarks.push(error.to_string());
                Ok(Proposals::default())
            }
            Err(error) => {
                self.remarks
                    .push(format!("the language model gave nothing: {error}"));
                Ok(Proposals::default())
            }
        }
    }
}

fn situation(pool: &Pool, api: &Api) -> Result<Situation, LearnError> {
    let signature = pool.describe(&api.path)?;
    let call = if signature.is_class {
        lines(&pool.describe(&format!("{}.forward", api.path))?)
    } else {
        Vec::new()
    };
    Ok(Situation {
        api: api.title.clone(),
        library: format!("{} {}", api.package, pool.info().library_version),
        signature: lines(&signature),
        call_signature: call,
        documentation: documentation(pool, api)?,
        messages: Vec::new(),
    })
}

fn lines(signature: &Signature) -> Vec<String> {
    let params = signature.params.iter().flatten();
    let own = params.filter(|param| param.name != "self");
    own.map(|param| match &param.default {
        Some(default) => format!("{} ({}) = {default}", param.name, param.kind),
        None => format!("{} ({})", param.name, param.kind),
    })
    .collect()
}

/// The object's own documentation; empty when it has none.
fn documentation(pool: &Pool, api: &Api) -> Result<String, LearnError> {
    let scratch = tempfile::tempdir().map_err(LearnError::file("make", "a scratch folder"))?;
    let folder = scratch
        .path()
        .canonicalize()
        .map_err(LearnError::file("find", scratch.path()))?;
    let script = folder.join("documentation.py");
    std::fs::write(&script, python_file(SCRIPT)).map_err(LearnError::file("write", &script))?;
    let file = folder.join("documentation.txt");
    let request = json!({ "path": api.path, "file": file });
    let options = ScriptOptions {
        timeout: Duration::from_secs(120),
        memory_limit: 8 << 30,
        scratch: folder,
        sandbox: SandboxOptions::default(),
        environment: vec![("FISSURE_DOCUMENTATION".into(), request.to_string())],
        cancelled: Arc::default(),
    };
    run_script(&pool.info().executable, &script, options)?;
    // An object without documentation, or that cannot be looked up: the model goes without.
    Ok(std::fs::read_to_string(&file).unwrap_or_else(|_| String::new()))
}
