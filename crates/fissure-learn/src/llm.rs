//! A language model that proposes rules and calls. Nothing it says counts before the library has
//! confirmed it: calls must be accepted, rules are challenged like those of the templates.
//!
//! Any endpoint that speaks OpenAI's chat protocol will do. Every answer is kept on disk under the
//! hash of its request, so the same question is asked once.

mod answer;
mod client;
mod consultation;
mod prompt;
mod proposal;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use client::{Client, Failure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use answer::{Proposals, read_proposals};
pub(crate) use consultation::Consultation;
pub use prompt::Situation;

/// Tries before an endpoint that is busy or broken is given up.
const TRIES: u32 = 4;
/// An endpoint may ask for patience, but not for more than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// What is shown of an error page.
const SHOWN: usize = 300;

/// Why the model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url} says {status}: {body}{}", hint(*status))]
    Status {
        url: String,
        status: u16,
        body: String,
    },
    #[error("{url} gave no answer within {seconds} s")]
    Timeout { url: String, seconds: u64 },
    #[error("{url} does not speak the chat protocol: {reason}")]
    Protocol { url: String, reason: String },
    #[error("the model's answer is not what was asked for: {reason}")]
    Answer { reason: String },
    #[error("failed to keep the answer in {path}: {source}")]
    Cache {
        path: PathBuf,
        source: std::io::Error,
    },
}

fn hint(status: u16) -> &'static str {
    match status {
        401 | 403 => "\n\nthe key is read from the variable OPENAI_API_KEY",
        404 => "\n\ngive the URL before `/chat/completions`, as in http://localhost:8000/v1",
        _ => "",
    }
}

impl ModelError {
    /// Asking again, about another API, would end the same way.
    pub fn is_lasting(&self) -> bool {
        match self {
            ModelError::Unreachable { .. }
            | ModelError::Protocol { .. }
            | ModelError::Cache { .. } => true,
            ModelError::Status { status, .. } => (400..429).contains(status),
            ModelError::Timeout { .. } | ModelError::Answer { .. } => false,
        }
    }
}

/// Where the model is, and what it is called there.
#[derive(Clone)]
pub struct LanguageModel {
    url: String,
    model: String,
    key: Option<String>,
    cache: PathBuf,
    timeout: Duration,
    /// Before the second try; doubled before each further one.
    pause: Duration,
    client: Client,
}

/// The key stays out of everything that is printed.
impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageModel")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl LanguageModel {
    /// `url` is the address of the endpoint, with or without its `/chat/completions`.
    pub fn new(url: &str, model: &str, key: Option<String>, cache: PathBuf) -> Self {
        let base = url.trim_end_matches('/');
        let base = base.strip_suffix("/chat/completions").unwrap_or(base);
        let timeout = Duration::from_secs(120);
        LanguageModel {
            url: format!("{base}/chat/completions"),
            model: model.to_owned(),
            key: key.filter(|key| !key.is_empty()),
            cache,
            timeout,
            pause: Duration::from_secs(2),
            client: Client::new(timeout),
        }
    }

    /// Other limits than the usual ones: of one request, and before the second try.
    pub fn with_patience(self, timeout: Duration, pause: Duration) -> Self {
        LanguageModel {
            client: Client::new(timeout),
            timeout,
            pause,
            ..self
        }
    }

    /// What the model proposes for an API. An answer that cannot be read is told to the model
    /// once.
    pub fn propose(&self, situation: &Situation) -> Result<Proposals, ModelError> {
        let mut messages = prompt::messages(situation);
        let first = self.ask(&messages)?;
        let reason = match read_proposals(&first) {
            Ok(proposals) => return Ok(proposals),
            Err(reason) => reason,
        };
        messages.push(json!({ "role": "assistant", "content": first }));
        messages.push(json!({ "role": "user", "content": prompt::correction(&reason) }));
        let second = self.ask(&messages)?;
        read_proposals(&second).map_err(|reason| ModelError::Answer { reason })
    }

    /// The answer to a conversation: the one that was kept, or a new one.
    fn ask(&self, messages: &[Value]) -> Result<String, ModelError> {
        let request = json!({ "model": self.model, "messages": messages, "temperature": 0 });
        let text = request.to_string();
        let mut hash = Sha256::new();
        hash.update(&self.url);
        hash.update([0]);
        hash.update(&text);
        let name: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        let path = self.cache.join(format!("{name}.json"));
        if let Some(kept) = kept(&path) {
            return Ok(kept);
        }
        let answer = self.send(&text)?;
        self.keep(&path, &request, &answer)
            .map_err(|source| ModelError::Cache { path, source })?;
        Ok(answer)
    }

    fn keep(&self, path: &PathBuf, request: &Value, answer: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.cache)?;
        let entry = json!({ "url": self.url, "request": request, "answer": answer });
        // Whole or not at all, also when two processes ask the same.
        let unfinished = path.with_extension(format!("{}.unfinished", std::process::id()));
        std::fs::write(&unfinished, format!("{entry:#}\n"))?;
        std::fs::rename(&unfinished, path)
    }

    fn send(&self, body: &str) -> Result<String, ModelError> {
        let mut pause = self.pause;
        for _ in 1..TRIES {
            match self.send_once(body) {
                Err((ModelError::Status { status, .. }, wait))
                    if status == 429 || status >= 500 =>
                {
                    std::thread::sleep(wait.unwrap_or(pause).min(LONGEST_PAUSE));
                }
                Err((ModelError::Timeout { .. }, _)) => {}
                Err((error, _)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
            pause *= 2;
        }
        self.send_once(body).map_err(|(error, _)| error)
    }

    /// One request; with an error comes how long the endpoint asks to wait, if it does.
    fn send_once(&self, body: &str) -> Result<String, (ModelError, Option<Duration>)> {
        let answer = self.client.post(&self.url, self.key.as_deref(), body);
        let client::Answer { status, wait, text } = match answer {
            Ok(answer) => answer,
            Err(failure) => return Err((self.failed(failure), None)),
        };
        if status != 200 {
            let error = ModelError::Status {
                url: self.url.clone(),
                status,
                body: self.without_key(&shortened(&text)),
            };
            return Err((error, wait));
        }
        content(&text).ok_or_else(|| {
            let error = ModelError::Protocol {
                url: self.url.clone(),
                reason: self.without_key(&shortened(&text)),
            };
            (error, None)
        })
    }

    fn failed(&self, failure: Failure) -> ModelError {
        let url = self.url.clone();
        match failure {
            Failure::Timeout => ModelError::Timeout {
                url,
                seconds: self.timeout.as_secs(),
            },
            Failure::Unreachable(reason) => ModelError::Unreachable {
                url,
                reason: self.without_key(&reason),
            },
        }
    }

    /// Some endpoints repeat the key in their errors.
    fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.as_str(), "(the key)"),
            None => text.to_owned(),
        }
    }
}

/// The answer of an earlier time; one that cannot be read is none.
fn kept(path: &PathBuf) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    let entry: Value = serde_json::from_slice(&text).ok()?;
    entry["answer"].as_str().map(str::to_owned)
}

fn content(text: &str) -> Option<String> {
    let response: Value = serde_json::from_str(text).ok()?;
    response["choices"][0]["message"]["content"]
        .as_str()
        .map(str::to_owned)
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None if line.is_empty() => "nothing".to_owned(),
        None => line,
    }
}
