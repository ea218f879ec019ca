//! Constraints that may explain why a library refuses inputs: for each parameter what its values differ
//! in, and what it may have to do with those before it.
//!
//! A family is a list of candidates from the weakest to the strongest.

use std::collections::{BTreeMap, BTreeSet};

use fissure_model::{Dtype, TensorValue, Value};
use fissure_spec::ExtractedFile;

use super::{Learned, Seen};

/// Ranks beyond this are not listed one by one.
const HIGHEST_RANK: usize = 5;
/// How likely the refusals of one value may be chance.
const BY_CHANCE: f64 = 0.005;
/// Values of a choice that are told apart.
const MOST_CHOICES: usize = 12;

/// One constraint that could be added.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub param: String,
    pub key: &'static str,
    pub values: Vec<String>,
    /// Shapes of other parameters that belong to it.
    pub also: Vec<(String, String)>,
    /// Accepted inputs count only where they give the parameter.
    pub given: bool,
}

pub(super) fn candidates(
    file: &ExtractedFile,
    seen: &[Seen],
    learned: &[Learned],
) -> Vec<Vec<Candidate>> {
    let mut families = Vec::new();
    let order = order(file);
    for (at, name) in order.iter().enumerate() {
        let values = Values::of(name, seen);
        if values.all.is_empty() {
            continue;
        }
        let about = About {
            file,
            learned,
            name,
            earlier: &order[..at],
            later: &order[at + 1..],
        };
        about.ranks(&values, &mut families);
        about.dtypes(&values, &mut families);
        about.relations(seen, &values, &mut families);
        about.numbers(seen, &values, &mut families);
        about.lengths(seen, &values, &mut families);
        about.choices(&values, &mut families);
    }
    families
}

/// The parameters in the order of the file.
pub(super) fn order(file: &ExtractedFile) -> Vec<String> {
    let keys = ["required", "optional", "keyword_only", "layer"];
    let listed = keys
        .iter()
        .filter_map(|key| file.inputs.get(*key))
        .flatten();
    let mut names: Vec<String> = Vec::new();
    for name in listed {
        if file.constraints.contains_key(name) && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The values that one parameter had, each with whether the call was accepted.
struct Values<'a> {
    all: Vec<(&'a Value, bool)>,
}

impl<'a> Values<'a> {
    fn of(name: &str, seen: &'a [Seen]) -> Values<'a> {
        let each = seen.iter();
        let all = each.filter_map(|one| Some((value_of(name, one)?, one.refused.is_none())));
        Values { all: all.collect() }
    }

    /// Groups of values: (accepted, refused) by what `of` says of them.
    fn groups<K: Ord>(&self, of: impl Fn(&Value) -> Option<K>) -> BTreeMap<K, [usize; 2]> {
        let mut groups: BTreeMap<K, [usize; 2]> = BTreeMap::new();
        for (value, accepted) in &self.all {
            if let Some(key) = of(value) {
                groups.entry(key).or_default()[usize::from(!accepted)] += 1;
            }
        }
        groups
    }

    fn any(&self, of: impl Fn(&Value) -> bool) -> bool {
        self.all.iter().any(|(value, _)| of(value))
    }
}

pub(super) fn value_of<'a>(name: &str, one: &'a Seen) -> Option<&'a Value> {
    let bare = name.trim_start_matches('*');
    let layer = one.input.layer_arguments.iter().flatten();
    let mut given = one.input.arguments.iter().chain(layer);
    given
        .find(|argument| argument.name == bare)
        .map(|argument| &argument.value)
}

pub(super) fn tensor(value: &Value) -> Option<&TensorValue> {
    match value {
        Value::Tensor(tensor) | Value::NdArray(tensor) | Value::SparseTensor(tensor) => {
            Some(tensor)
        }
        _ => None,
    }
}

/// Is it a tensor for the file, or at least not one number? A number may be given as a tensor, too.
pub(super) fn is_array(file: &ExtractedFile, name: &str) -> bool {
    let lists = &file.constraints[name].lists;
    lists.contains_key("tensor_t") || lists.get("ndim").is_none_or(|ranks| *ranks != ["0"])
}

/// The numbers of a number or of a list of numbers.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::Int(number) => Some(vec![*number as f64]),
        Value::Float(number) => Some(vec![*number]),
        Value::List(items) | Value::Tuple(items) if !items.is_empty() => {
            let each = items.iter().map(|item| match item {
                Value::Int(number) => Some(*number as f64),
                Value::Float(number) => Some(*number),
                _ => None,
            });
            each.collect()
        }
        _ => None,
    }
}

fn items(value: &Value) -> Option<usize> {
    match value {
        Value::List(items) | Value::Tuple(items) => Some(items.len()),
        _ => None,
    }
}

/// What is tried about one parameter.
struct About<'a> {
    file: &'a ExtractedFile,
    learned: &'a [Learned],
    name: &'a str,
    earlier: &'a [String],
    later: &'a [String],
}

impl About<'_> {
    fn one(&self, key: &'static str, values: Vec<String>) -> Candidate {
        Candidate {
            param: self.name.to_owned(),
            key,
            values,
            also: Vec::new(),
            given: true,
        }
    }

    fn list(&self, key: &str) -> &[String] {
        let param = self.file.constraints.get(self.name);
        param
            .and_then(|param| param.lists.get(key))
            .map_or(&[], Vec::as_slice)
    }

    /// May the list be replaced: it is not there, or it was learned here?
    fn is_open(&self, key: &str) -> bool {
        let mut learned = self.learned.iter();
        self.list(key).is_empty() || learned.any(|one| one.param == self.name && one.key == key)
    }

    /// Ranks without an accepted input, left out: all below one, all above one, or some.
    fn ranks(&self, values: &Values<'_>, families: &mut Vec<Vec<Candidate>>) {
        let fixed = self
            .list("shape")
            .iter()
            .any(|shape| shape.starts_with('['));
        let groups = values.groups(|value| tensor(value).map(|it| it.shape.len()));
        let refused = refused(&groups);
        let good = groups.keys().filter(|rank| !refused.contains(*rank));
        let (Some(least), Some(lowest)) = (good.clone().min(), refused.first()) else {
            return;
        };
        if fixed {
            return;
        }
        let mut family = Vec::new();
        let below = refused.iter().filter(|rank| *rank < least).max();
        if let Some(below) = below.filter(|_| lowest < least) {
            family.push(self.one("ndim", vec![format!(">={}", below + 1)]));
        }
        let open = self.list("ndim").is_empty();
        let listed = (0..=HIGHEST_RANK)
            .filter(|rank| !refused.contains(rank) && (open || groups.contains_key(rank)));
        let listed = listed.map(|rank| rank.to_string()).collect();
        family.push(self.one("ndim", listed));
        families.push(family);
    }

    /// Element types without an accepted input, left out.
    fn dtypes(&self, values: &Values<'_>, families: &mut Vec<Vec<Candidate>>) {
        let groups = values.groups(|value| tensor(value).map(|it| it.dtype));
        let refused = refused(&groups);
        if refused.is_empty() || self.list("dtype").iter().any(|it| it.contains('&')) {
            return;
        }
        let good = groups.keys().filter(|dtype| !refused.contains(*dtype));
        let good = good.map(|dtype| dtype_name(self.file, *dtype)).collect();
        families.push(vec![self.one("dtype", good)]);
    }

    /// Shapes, ranks and types that agree with those of another tensor.
    fn relations(&self, seen: &[Seen], values: &Values<'_>, families: &mut Vec<Vec<Candidate>>) {
        if !is_array(self.file, self.name) || !values.any(|value| tensor(value).is_some()) {
            return;
        }
        let symbol = format!("n_{}", self.name.trim_start_matches('*'));
        if self.is_open("shape") {
            let square = format!("[...,{symbol},{symbol}]");
            families.push(vec![self.one("shape", vec![square])]);
        }
        for other in self.earlier {
            let both = Values::of(other, seen);
            let array = is_array(self.file, other) && both.any(|value| tensor(value).is_some());
            if other.starts_with('*') || !array {
                continue;
            }
            if !self.list("dtype").iter().any(|it| it.contains('&')) {
                families.push(vec![self.one("dtype", vec![format!("dtype:&{other}")])]);
            }
            if self.is_open("shape") {
                let forms = ["broadcast", "broadcast_to", "shape"];
                let family = forms.map(|form| self.one("shape", vec![format!("{form}:&{other}")]));
                families.push(family.into());
            }
            if self.is_open("ndim") && self.list("shape").is_empty() {
                families.push(vec![self.one("ndim", vec![format!("ndim:&{other}")])]);
            }
        }
    }

    /// Bounds of numbers, also by the rank of a tensor.
    fn numbers(&self, seen: &[Seen], values: &Values<'_>, families: &mut Vec<Vec<Candidate>>) {
        let of_numbers = values.any(|value| numbers(value).is_some());
        if !of_numbers || !self.is_open("range") {
            return;
        }
        let one = |text: &str| self.one("range", vec![text.to_owned()]);
        // -1 stands for something else often enough; where it was accepted, that is seen.
        families.push(vec![one("[0,inf)"), one("[-1,inf)")]);
        families.push(vec![one("(0,inf)")]);
        families.push(vec![one("(-inf,1]"), one("(-inf,0]")]);
        families.push(vec![one("[0,1]")]);
        for other in self.earlier.iter().chain(self.later) {
            let both = Values::of(other, seen);
            if !other.starts_with('*') && both.any(|value| tensor(value).is_some()) {
                families.push(vec![one(&format!("[-ndim:&{other},ndim:&{other})"))]);
            }
        }
        for other in self.earlier {
            let both = Values::of(other, seen);
            if !other.starts_with('*')
                && both.any(|it| matches!(it, Value::Int(_) | Value::Float(_)))
            {
                families.push(vec![
                    one(&format!("[&{other},inf)")),
                    one(&format!("(&{other},inf)")),
                ]);
                families.push(vec![
                    one(&format!("(-inf,&{other}]")),
                    one(&format!("(-inf,&{other})")),
                ]);
            }
        }
    }

    /// Lengths of lists: one, or those of the rank of a tensor or of another list.
    fn lengths(&self, seen: &[Seen], values: &Values<'_>, families: &mut Vec<Vec<Candidate>>) {
        let groups = values.groups(items);
        if groups.len() < 2 || !self.is_open("shape") {
            return;
        }
        let good = accepted(&groups);
        if !good.contains(&0) {
            families.push(vec![self.one("shape", vec!["[>=1]".to_owned()])]);
        }
        if (1..=2).contains(&good.len()) && good.len() < groups.len() {
            let listed = good.iter().map(|length| format!("[{length}]"));
            families.push(vec![self.one("shape", listed.collect())]);
        }
        for other in self.earlier.iter().chain(self.later) {
            let both = Values::of(other, seen);
            if other.starts_with('*') {
                continue;
            }
            if both.any(|value| tensor(value).is_some()) {
                families.push(vec![
                    self.one("shape", vec![format!("[<=ndim:&{other}]")]),
                    self.one("shape", vec![format!("[ndim:&{other}]")]),
                ]);
            }
            if self.earlier.contains(other) && both.any(|value| items(value).is_some()) {
                families.push(vec![self.one("shape", vec![format!("[len:&{other}]")])]);
            }
        }
    }

    /// Texts, booleans and None without an accepted input, left out; where none is accepted at all, the
    /// default is the only choice.
    fn choices(&self, values: &Values<'_>, families: &mut Vec<Vec<Candidate>>) {
        let required = self.file.inputs.get("required");
        if required.is_none_or(|names| !names.iter().any(|it| it == self.name))
            && !self.name.starts_with('*')
            && !values.all.iter().any(|(_, accepted)| *accepted)
        {
            let param = self.file.constraints.get(self.name);
            let default = param.and_then(|param| param.default.clone());
            let default = default.unwrap_or_else(|| "None".to_owned());
            families.push(vec![Candidate {
                given: false,
                ..self.one("enum", vec![default])
            }]);
            return;
        }
        let groups = values.groups(choice);
        let refused = refused(&groups);
        let good: Vec<String> = groups
            .into_keys()
            .filter(|it| !refused.contains(it))
            .collect();
        let others = values.any(|value| choice(value).is_none());
        if !refused.is_empty() && !others && (1..=MOST_CHOICES).contains(&good.len()) {
            families.push(vec![self.one("enum", good)]);
        }
    }
}

fn choice(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) if !text.is_empty() => Some(text.clone()),
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::None => Some("None".to_owned()),
        _ => None,
    }
}

/// Values that were refused each time, and too often for chance.
fn refused<K: Ord + Clone>(groups: &BTreeMap<K, [usize; 2]>) -> BTreeSet<K> {
    let working = groups.values().filter(|[taken, _]| *taken > 0);
    let sums = working.fold([0, 0], |sum, [taken, refused]| {
        [sum[0] + taken, sum[1] + refused]
    });
    let rate = sums[0] as f64 / (sums[0] + sums[1]).max(1) as f64;
    let by_chance = |refused: usize| (1.0 - rate).powi(i32::try_from(refused).unwrap_or(i32::MAX));
    let bad = groups.iter().filter(|(_, [taken, refused])| {
        *taken == 0 && sums[0] > 0 && by_chance(*refused) < BY_CHANCE
    });
    bad.map(|(key, _)| key.clone()).collect()
}

/// Ranks and element types that were refused each time, but not often enough to be sure: each as a
/// constraint under which nothing else is drawn.
pub(super) fn doubts(file: &ExtractedFile, seen: &[Seen]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for name in order(file) {
        let values = Values::of(&name, seen);
        let lists = &file.constraints[&name].lists;
        let mut add = |key, value: String| {
            found.push(Candidate {
                param: name.clone(),
                key,
                values: vec![value],
                also: Vec::new(),
                given: true,
            });
        };
        let ranks = values.groups(|value| tensor(value).map(|it| it.shape.len()));
        let bad = refused(&ranks);
        if !lists.contains_key("shape") {
            for rank in unsure(&ranks, &bad) {
                add("ndim", rank.to_string());
            }
        }
        let dtypes = values.groups(|value| tensor(value).map(|it| it.dtype));
        let bad = refused(&dtypes);
        let tied = lists
            .get("dtype")
            .is_some_and(|it| it.iter().any(|it| it.contains('&')));
        if !tied {
            for dtype in unsure(&dtypes, &bad) {
                add("dtype", dtype_name(file, dtype));
            }
        }
    }
    found
}

fn unsure<K: Ord + Clone>(groups: &BTreeMap<K, [usize; 2]>, bad: &BTreeSet<K>) -> Vec<K> {
    let some = groups.values().any(|[taken, _]| *taken > 0);
    let each = groups.iter();
    let each = each.filter(|(key, [taken, _])| some && *taken == 0 && !bad.contains(*key));
    each.map(|(key, _)| key.clone()).collect()
}

fn dtype_name(file: &ExtractedFile, dtype: Dtype) -> String {
    let package = match file.package.as_str() {
        "tensorflow" => "tf.",
        "torch" => "torch.",
        _ => "",
    };
    format!("{package}{}", dtype.name())
}

fn accepted<K: Ord + Clone>(groups: &BTreeMap<K, [usize; 2]>) -> BTreeSet<K> {
    let good = groups.iter().filter(|(_, [taken, _])| *taken > 0);
    good.map(|(key, _)| key.clone()).collect()
}
