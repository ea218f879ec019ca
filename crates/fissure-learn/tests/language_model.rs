//! The language model's endpoint, played by a server in the test itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fissure_execute::{Pool, PoolOptions};
use fissure_learn::{LanguageModel, LearnOptions, ModelError, Situation, learn};
use fissure_model::Api;

/// One answer of the server: status, further header lines, body. An answer without a status never
/// comes.
type Scripted = (u16, &'static str, String);

/// Serves the answers, one per connection, and tells what was asked: the head and the body.
fn server(answers: Vec<Scripted>) -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (asked, requests) = channel();
    std::thread::spawn(move || {
        for (status, headers, body) in answers {
            let Ok((stream, _)) = listener.accept() else {
                return;
            };
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head).unwrap_or(0) == 0 {
                    return;
                }
            }
            let length = head
                .to_ascii_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                .unwrap_or(0);
            let mut content = vec![0; length];
            reader.read_exact(&mut content).unwrap();
            let content = String::from_utf8(content).unwrap();
            if asked.send((head, content)).is_err() {
                return;
            }
            if status == 0 {
                std::thread::sleep(Duration::from_secs(3));
                continue;
            }
            let mut stream = stream;
            let _ = write!(
                stream,
                "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
                body.len()
            );
        }
    });
    (url, requests)
}

fn said(text: &str) -> String {
    serde_json::json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] })
        .to_string()
}

fn model(url: &str, cache: &Path) -> LanguageModel {
    LanguageModel::new(url, "tiny", Some("secret-key".into()), cache.to_owned())
        .with_patience(Duration::from_secs(1), Duration::from_millis(1))
}

fn situation() -> Situation {
    Situation {
        api: "torch.f".into(),
        library: "torch 2.9.1".into(),
        messages: vec!["ValueError: n must be positive".into()],
        ..Situation::default()
    }
}

const GOOD: &str = r#"{"rules": ["n > 0"], "inputs": [{"arguments": [3]}]}"#;

#[test]
fn an_answer_is_asked_for_once_and_kept_without_the_key() {
    let cache = tempfile::tempdir().unwrap();
    let (url, requests) = server(vec![(200, "", said(GOOD))]);
    let model = model(&url, cache.path());
    let proposals = model.propose(&situation()).unwrap();
    assert_eq!(proposals.rules, ["n > 0"]);
    assert_eq!(proposals.inputs.len(), 1);
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    let authorised = head
        .to_ascii_lowercase()
        .contains("authorization: bearer secret-key");
    assert!(authorised, "{head}");
    assert!(body.contains("\"model\":\"tiny\"") && body.contains("n must be positive"));
    // The server answers no more.
    assert_eq!(model.propose(&situation()).unwrap(), proposals);
    let entries: Vec<_> = std::fs::read_dir(cache.path()).unwrap().collect();
    assert_eq!(entries.len(), 1);
    let kept = std::fs::read_to_string(entries[0].as_ref().unwrap().path()).unwrap();
    assert!(!kept.contains("secret-key") && !format!("{model:?}").contains("secret-key"));
}

#[test]
fn a_busy_or_slow_endpoint_is_asked_again() {
    let cache = tempfile::tempdir().unwrap();
    let (url, requests) = server(vec![
        (429, "Retry-After: 0\r\n", "slow down".into()),
        (500, "", "oops".into()),
        (200, "", said(GOOD)),
    ]);
    assert!(model(&url, cache.path()).propose(&situation()).is_ok());
    assert_eq!(requests.iter().take(3).count(), 3);
}

#[test]
fn an_endpoint_that_stays_broken_is_told_with_its_words_and_without_the_key() {
    let cache = tempfile::tempdir().unwrap();
    let broken = || (503, "", "overloaded, secret-key".to_owned());
    let (url, _requests) = server((0..4).map(|_| broken()).collect());
    let error = model(&url, cache.path()).propose(&situation()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("says 503: overloaded, (the key)"), "{text}");
    assert!(!error.is_lasting(), "the next API may have more luck");
}

#[test]
fn a_wrong_key_and_a_wrong_address_are_lasting_and_say_what_to_do() {
    let cache = tempfile::tempdir().unwrap();
    let (url, _requests) = server(vec![(401, "", "no".into()), (404, "", String::new())]);
    let model = model(&url, cache.path());
    for hint in ["OPENAI_API_KEY", "/chat/completions"] {
        let error = model.propose(&situation()).unwrap_err();
        assert!(
            error.is_lasting() && error.to_string().contains(hint),
            "{error}"
        );
    }
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let model = self::model(&format!("http://{nobody}"), cache.path());
    let error = model.propose(&situation()).unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error}");
    assert!(error.is_lasting());
}

#[test]
fn an_endpoint_that_never_answers_is_given_up() {
    let cache = tempfile::tempdir().unwrap();
    let (url, _requests) = server(vec![(0, "", String::new())]);
    let model = model(&url, cache.path())
        .with_patience(Duration::from_millis(60), Duration::from_millis(1));
    let error = model.propose(&situation()).unwrap_err();
    assert!(matches!(error, ModelError::Timeout { .. }), "{error}");
}

#[test]
fn an_answer_that_is_no_json_is_told_to_the_model_once() {
    let cache = tempfile::tempdir().unwrap();
    let (url, requests) = server(vec![
        (200, "", said("I think n should be positive.")),
        (200, "", said(GOOD)),
    ]);
    let proposals = model(&url, cache.path()).propose(&situation()).unwrap();
    assert_eq!(proposals.rules, ["n > 0"]);
    let second = requests.iter().nth(1).unwrap().1;
    assert!(second.contains("That cannot be read"), "{second}");

    let cache = tempfile::tempdir().unwrap();
    let words = || (200, "", said("no"));
    let (url, _requests) = server(vec![words(), words()]);
    let error = model(&url, cache.path()).propose(&situation()).unwrap_err();
    assert!(matches!(error, ModelError::Answer { .. }), "{error}");

    let (url, _requests) = server(vec![(200, "", "<html>".into())]);
    let error = model(&url, cache.path()).propose(&situation()).unwrap_err();
    assert!(error.to_string().contains("chat protocol"), "{error}");
}

/// No template speaks of such a sum.
const MIXING: &str = "
def mix(a, b):
    if (a * 3 + b * 5) % 7 == 2:
        raise ValueError('bad mix')
    return a
";

#[test]
fn proposed_calls_become_seeds_and_proposed_rules_count_when_the_library_confirms_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mixing.py"), MIXING).unwrap();
    let pool = Pool::start(PoolOptions {
        extra_path: vec![folder.path().to_owned()],
        ..PoolOptions::new(
            PathBuf::from("python3"),
            "mixing",
            folder.path().join("scratch"),
        )
    })
    .unwrap();
    let first = r#"{"rules": ["a < 3", "(a * 3 + b * 5) % 7 != 2", "a >"],
                    "inputs": [{"arguments": [1, 1]}, {"arguments": [5, 4]},
                               {"arguments": [-8, 30]}, {"arguments": ["no", 1]}]}"#;
    let second = r#"{"rules": ["c > 0"]}"#;
    let (url, requests) = server(vec![(200, "", said(first)), (200, "", said(second))]);
    let cache = tempfile::tempdir().unwrap();
    let api = Api {
        title: "mixing.mix".into(),
        package: "mixing".into(),
        path: "mixing.mix".into(),
        ..Api::default()
    };
    let options = LearnOptions {
        mutants: 600,
        model: Some(model(&url, cache.path())),
        ..LearnOptions::default()
    };
    let learned = learn(&pool, api, &[], &options, &AtomicBool::new(false)).unwrap();
    let text = learned.invariants.file.to_string();
    assert!(text.contains("% 7 != 2"), "the true rule is kept:\n{text}");
    assert!(!text.contains("a < 3"), "the wrong one is refuted:\n{text}");
    let asked: Vec<String> = requests.try_iter().map(|(_, body)| body).collect();
    assert_eq!(asked.len(), 2);
    assert!(
        asked[0].contains("a (positional_or_keyword)"),
        "{}",
        asked[0]
    );
    assert!(asked[1].contains("bad mix"), "the library's words are told");
    let remarks = learned.remarks.join("\n");
    for told in ["`a >`", "`c > 0`"] {
        assert!(remarks.contains(told), "{told} is not in {remarks}");
    }
}
