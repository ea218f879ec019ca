//! What the model is told.

use serde_json::{Value, json};

/// The user page is the grammar: what people read and what the model reads is the same.
const RULES: &str = include_str!("../../../../docs/rules.md");

/// Longest piece of documentation in a prompt.
const DOCUMENTATION: usize = 6000;
/// Messages of the library in a prompt.
const MESSAGES: usize = 30;

/// What is known of an API when the model is asked.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    pub api: String,
    /// The library and its version.
    pub library: String,
    /// Parameters as the library declares them, `name: type = default` where known; empty when it
    /// tells none.
    pub signature: Vec<String>,
    /// Parameters of the call on the constructed object, of a class.
    pub call_signature: Vec<String>,
    pub documentation: String,
    /// What the library said to inputs it rejected.
    pub messages: Vec<String>,
}

const TASK: &str = "\
You help to find out which arguments an API of a machine-learning library accepts. Answer with one \
JSON object and nothing else:
{
  \"signature\": [{\"name\": \"input\"}, {\"name\": \"dim\", \"default\": \"0\"}],
  \"rules\": [\"-ndim(input) <= dim and dim < ndim(input)\"],
  \"inputs\": [{\"arguments\": [{\"tensor\": {\"dtype\": \"float32\", \"shape\": [2, 3]}}], \
\"keywords\": {\"dim\": 1}}]
}
`rules` are up to 20 conditions that every accepted call satisfies, in the language below, each about \
the parameters by their names. `inputs` are up to 10 calls that the API accepts, as different as \
possible; values are JSON numbers, texts, true, false, null and lists, or {\"tensor\": {\"dtype\": …, \
\"shape\": […], \"low\": …, \"high\": …}} with optional bounds of its elements, {\"dtype\": \
\"float32\"}, {\"tuple\": […]}; for a class, `arguments` and `keywords` go to the constructor and \
{\"call\": {\"arguments\": […], \"keywords\": {…}}} to the call on its object. `signature` lists the \
parameters in order; leave it out where the library's own is given. Every proposal is tried on the \
library, so a wrong one costs nothing.";

/// The conversation that asks for proposals.
pub(crate) fn messages(situation: &Situation) -> Vec<Value> {
    let system = format!("{TASK}\n\nThe language of rules:\n\n{}", grammar());
    let mut user = format!("API: {}\nLibrary: {}\n", situation.api, situation.library);
    let list = |title: &str, lines: &[String]| {
        if lines.is_empty() {
            String::new()
        } else {
            format!("\n{title}:\n  {}\n", lines.join("\n  "))
        }
    };
    if situation.signature.is_empty() {
        user += "\nThe library does not tell its parameters.\n";
    }
    user += &list("Parameters", &situation.signature);
    user += &list(
        "Parameters of the call on the constructed object",
        &situation.call_signature,
    );
    let documentation = situation.documentation.trim();
    if !documentation.is_empty() {
        let end = documentation.char_indices().nth(DOCUMENTATION);
        let end = end.map_or(documentation.len(), |(end, _)| end);
        user += &format!("\nDocumentation:\n{}\n", &documentation[..end]);
    }
    let seen = &situation.messages[..situation.messages.len().min(MESSAGES)];
    user += &list("What the library said to rejected calls", seen);
    vec![
        json!({ "role": "system", "content": system }),
        json!({ "role": "user", "content": user }),
    ]
}

pub(crate) fn correction(reason: &str) -> String {
    format!("That cannot be read: {reason}. Answer with the JSON object alone.")
}

/// The part of the user page that is about single rules.
fn grammar() -> &'static str {
    let end = RULES.find("## Rule files").unwrap_or(RULES.len());
    &RULES[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_grammar_signature_documentation_and_messages() {
        let situation = Situation {
            api: "torch.f".into(),
            library: "torch 2.9.1".into(),
            signature: vec!["input: tensor".into()],
            documentation: "Does f.".into(),
            messages: vec!["RuntimeError: too small".into()],
            ..Situation::default()
        };
        let messages = messages(&situation);
        let system = messages[0]["content"].as_str().unwrap();
        assert!(system.contains("forall name in collection") && system.contains("## Meaning"));
        assert!(!system.contains("## Rule files"), "that is for files");
        let user = messages[1]["content"].as_str().unwrap();
        for part in ["torch.f", "input: tensor", "Does f.", "too small"] {
            assert!(user.contains(part), "{part} is missing in {user}");
        }
    }
}
