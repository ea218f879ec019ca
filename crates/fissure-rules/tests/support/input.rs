//! Inputs as the specification writes them: `x = float32[2, 3] in [0, 5] sorted, n = 3`.

use fissure_model::Dtype;
use fissure_rules::{Datum, ElementFact, FactSet, Function, Number, TensorFacts};

/// The arguments in the order of `names`; what is not mentioned is not given.
pub(crate) fn read(text: &str, names: &[&str]) -> Result<Vec<Datum>, String> {
    let mut arguments = vec![Datum::None; names.len()];
    let mut reader = Reader { rest: text.trim() };
    while !reader.rest.is_empty() {
        let name = reader.word();
        reader.expect("=")?;
        let value = reader.datum()?;
        let position = names.iter().position(|known| *known == name);
        arguments[position.ok_or_else(|| format!("the rule has no parameter {name}"))?] = value;
        if !reader.take(",") && !reader.rest.is_empty() {
            return Err(format!("not understood from {:?}", reader.rest));
        }
    }
    Ok(arguments)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, symbol: &str) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: &str) -> Result<(), String> {
        if self.take(symbol) {
            Ok(())
        } else {
            Err(format!("expected {symbol} before {:?}", self.rest))
        }
    }

    fn word(&mut self) -> &'a str {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn numbers(&mut self, close: &str) -> Result<Vec<f64>, String> {
        let mut numbers = Vec::new();
        while !self.take(close) {
            let word = self.word();
            numbers.push(word.parse().map_err(|_| format!("{word:?} is no number"))?);
            self.take(",");
        }
        Ok(numbers)
    }

    fn items(&mut self, close: &str) -> Result<Vec<Datum>, String> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.datum()?);
            self.take(",");
        }
        Ok(items)
    }

    fn datum(&mut self) -> Result<Datum, String> {
        if self.take("[") {
            return self.items("]").map(Datum::List);
        }
        if self.take("(") {
            return self.items(")").map(Datum::Tuple);
        }
        if self.take("\"") {
            let (text, rest) = self.rest.split_once('"').ok_or("a text without end")?;
            self.rest = rest.trim_start();
            return Ok(Datum::Text(text.to_owned()));
        }
        let word = self.word();
        match word {
            "none" => return Ok(Datum::None),
            "other" => return Ok(Datum::Other),
            "true" => return Ok(Datum::Bool(true)),
            "false" => return Ok(Datum::Bool(false)),
            _ => {}
        }
        if let Ok(value) = word.parse() {
            return Ok(Datum::Int(value));
        }
        if let Ok(value) = word.parse() {
            return Ok(Datum::Float(value));
        }
        let dtype: Dtype = word.parse().map_err(|error| format!("{error}"))?;
        self.tensor(dtype)
    }

    fn tensor(&mut self, dtype: Dtype) -> Result<Datum, String> {
        if self.take("{") {
            let elements = self.numbers("}")?;
            let mut tensor = TensorFacts::new(dtype, vec![elements.len() as u64]);
            let least = elements.iter().copied().reduce(f64::min);
            let most = elements.iter().copied().reduce(f64::max);
            tensor.bounds = least
                .zip(most)
                .map(|(a, b)| (Number::Float(a), Number::Float(b)));
            tensor.elements = Some(elements.into());
            return Ok(Datum::Tensor(tensor));
        }
        if !self.take("[") {
            return Ok(Datum::Dtype(dtype));
        }
        let shape = self
            .numbers("]")?
            .into_iter()
            .map(|dim| dim as u64)
            .collect();
        let mut tensor = TensorFacts::new(dtype, shape);
        let mut facts = FactSet::default();
        loop {
            if self.take("in [") {
                let bounds = self.numbers("]")?;
                let [low, high] = bounds[..] else {
                    return Err("bounds are two numbers".to_owned());
                };
                tensor.bounds = Some((Number::Float(low), Number::Float(high)));
            } else if let Some(fact) = ElementFact::ALL
                .into_iter()
                .find(|fact| self.take(name(*fact)))
            {
                facts.insert(fact);
            } else {
                break;
            }
        }
        tensor.facts = facts;
        Ok(Datum::Tensor(tensor))
    }
}

fn name(fact: ElementFact) -> &'static str {
    match fact {
        ElementFact::Sorted => Function::Sorted,
        ElementFact::Distinct => Function::Distinct,
        ElementFact::Permutation => Function::Permutation,
        ElementFact::OneHot => Function::OneHot,
        ElementFact::Symmetric => Function::Symmetric,
        ElementFact::PositiveDefinite => Function::PositiveDefinite,
    }
    .name()
}
