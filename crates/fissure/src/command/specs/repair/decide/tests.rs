use super::super::documented::{is_documentation_bug, is_unchecked};
use super::super::learn::Seen;
use super::*;

/// A library that refuses some alternatives and, of `strict`, everything.
#[derive(Default)]
struct Fake {
    refused: Vec<&'static str>,
    violations: Vec<Violation>,
}

impl Trials for Fake {
    fn conforming(&mut self, file: &ExtractedFile) -> Option<Trial> {
        let lists = &file.constraints["x"].lists;
        let mut rate = 1.0;
        for values in lists.values() {
            let good = values
                .iter()
                .filter(|it| !self.refused.contains(&it.as_str()));
            rate *= good.count() as f64 / values.len() as f64;
        }
        Some(Trial {
            tried: 20,
            accepted: (20.0 * rate) as usize,
            refused: Some("f(3): TypeError: no".into()),
        })
    }

    fn insisting(&mut self, file: &ExtractedFile) -> Option<Trial> {
        self.conforming(file)
    }

    fn without(&mut self, file: &ExtractedFile, param: &str, key: &str) -> Option<[Trial; 2]> {
        let kept = self.conforming(file)?;
        let mut other = file.clone();
        other.constraints.get_mut(param)?.lists.remove(key);
        Some([kept, self.conforming(&other)?])
    }

    fn violating(&mut self, _: &ExtractedFile) -> Vec<Violation> {
        self.violations.clone()
    }
}

impl Observes for Fake {
    fn observe(&mut self, _: &ExtractedFile, _: bool) -> Vec<Seen> {
        Vec::new()
    }

    fn breaks(&self, _: &ExtractedFile, _: &[Seen]) -> Option<Vec<bool>> {
        None
    }
}

fn file(lists: &[(&str, &[&str])]) -> ExtractedFile {
    let mut file = ExtractedFile::default();
    let param = file.constraints.entry("x".into()).or_default();
    for (key, values) in lists {
        let values: Vec<String> = values.iter().map(|it| (*it).to_owned()).collect();
        for value in &values {
            let line = format!("{key} {value} | 0.85 | documentation: must be {value}");
            param.evidence.push(line);
        }
        param.lists.insert((*key).to_owned(), values);
    }
    file
}

#[test]
fn an_alternative_that_is_always_refused_is_dropped_with_the_call_and_the_sentence() {
    let mut file = file(&[("dtype", &["torch.int8", "torch.float32"])]);
    let mut library = Fake {
        refused: vec!["torch.int8"],
        ..Fake::default()
    };
    let decision = decide(&mut file, &mut library).unwrap();
    assert_eq!((decision.before, decision.after), (0.5, 1.0));
    let [found] = &decision.contradictions[..] else {
        panic!("{decision:?}");
    };
    assert_eq!(found.values, ["torch.int8"]);
    assert!(found.evidence.contains("TypeError: no"), "{found:?}");
    assert!(is_documentation_bug(found), "{found:?}");
    let param = &file.constraints["x"];
    assert_eq!(param.lists["dtype"], ["torch.float32"]);
    assert!(
        param
            .evidence
            .last()
            .unwrap()
            .starts_with("dropped dtype torch.int8 |")
    );
}

#[test]
fn a_list_without_which_inputs_are_accepted_is_dropped() {
    let mut file = file(&[("ndim", &["0"]), ("dtype", &["torch.float32"])]);
    let mut library = Fake {
        refused: vec!["0"],
        ..Fake::default()
    };
    let decision = decide(&mut file, &mut library).unwrap();
    assert_eq!((decision.before, decision.after), (0.0, 1.0));
    assert!(!file.constraints["x"].lists.contains_key("ndim"));
    assert!(file.constraints["x"].lists.contains_key("dtype"));
}

#[test]
fn a_file_that_the_library_agrees_with_stays_as_it_is() {
    let mut kept = file(&[("dtype", &["torch.int8", "torch.float32"])]);
    let before = kept.clone();
    let decision = decide(&mut kept, &mut Fake::default()).unwrap();
    assert!(decision.contradictions.is_empty(), "{decision:?}");
    assert_eq!(kept, before);
}

#[test]
fn what_is_broken_and_accepted_is_marked_and_told_as_a_bug_where_it_is_no_plain_type() {
    let violation = |key, accepted| Violation {
        param: "x".into(),
        key,
        tried: 10,
        accepted,
        call: Some("f(9)".into()),
    };
    let mut file = file(&[("range", &["[0,1]"]), ("dtype", &["int"]), ("enum", &["a"])]);
    let mut library = Fake {
        violations: vec![
            violation("range", 4),
            violation("dtype", 10),
            violation("enum", 9),
        ],
        ..Fake::default()
    };
    let decision = decide(&mut file, &mut library).unwrap();
    let found = &decision.contradictions;
    assert!(found.iter().all(|it| it.done == "marked"), "{found:?}");
    let told: Vec<bool> = found.iter().map(is_unchecked).collect();
    assert_eq!(told, [false, false, true], "{found:?}");
    assert_eq!(file.constraints["x"].lists.len(), 3);
    let again = ExtractedFile::from_yaml(&file.to_yaml()).unwrap();
    assert_eq!(
        again.constraints["x"].evidence,
        file.constraints["x"].evidence
    );
}

#[test]
fn alternatives_that_are_accepted_after_all_are_given_back() {
    let before = file(&[("enum", &["nearest", "bilinear", "nonsense"])]);
    let mut after = file(&[("enum", &["nearest"])]);
    let mut learned = Learned {
        param: "x".into(),
        key: "enum".into(),
        values: vec!["nearest".into()],
        also: Vec::new(),
        evidence: "0 of 9 accepted".into(),
    };
    let gone = refuted(&before, &learned);
    let values: Vec<_> = gone.iter().map(|it| it.values[0].as_str()).collect();
    assert_eq!(values, ["bilinear", "nonsense"]);
    give_back(&mut after, &mut learned, &gone[0].values);
    assert_eq!(
        after.constraints["x"].lists["enum"],
        ["nearest", "bilinear"]
    );
    assert_eq!(learned.values, ["nearest", "bilinear"]);
}
