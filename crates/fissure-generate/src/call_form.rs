//! How the arguments that rules speak of reach the call.

use fissure_model::{
    AbstractArgument, AbstractInput, AbstractValue, Argument, ConcreteInput, Intent, Passing,
    Signature, Value,
};
use fissure_rules::{Datum, FactSet, FileParam, Place, RuleFile};

#[derive(Debug)]
struct FormParam {
    /// As the call knows it: rule files tell a parameter of the constructor from one of the call
    /// by a `_` after the second name.
    name: String,
    place: Place,
    may_be_left_out: bool,
    default: Option<Value>,
    /// Belongs to the call on the constructed object.
    call: bool,
}

/// The parameters of a rule file, in its order.
#[derive(Debug)]
pub(crate) struct CallForm {
    params: Vec<FormParam>,
    layer: bool,
}

impl CallForm {
    pub(crate) fn new(file: &RuleFile, signature: Option<&Signature>) -> Self {
        let own = file.params.iter().enumerate().map(|(at, param)| FormParam {
            name: renamed(at, file, signature)
                .unwrap_or(&param.declaration.name)
                .to_owned(),
            place: own_place(at, param, file, signature),
            may_be_left_out: param.default.is_some(),
            default: param.default_value(),
            call: false,
        });
        let call = file.call_params.iter().map(|param| FormParam {
            name: param.declaration.name.trim_end_matches('_').to_owned(),
            place: match param.place {
                Place::Either if is_rest(param) => Place::Rest,
                place => place,
            },
            may_be_left_out: param.default.is_some(),
            default: param.default_value(),
            call: true,
        });
        CallForm {
            params: own.chain(call).collect(),
            layer: !file.call_params.is_empty(),
        }
    }

    /// Names of the parameters, as the call knows them.
    pub(crate) fn params(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|param| param.name.as_str())
    }

    /// The call with these values, one for each parameter. What equals its default is left out,
    /// because overloads tell the two apart. `None` when a gap before a positional argument cannot
    /// be filled.
    pub(crate) fn input(
        &self,
        values: Vec<AbstractValue>,
        intent: Intent,
    ) -> Option<AbstractInput> {
        let mut arguments = Vec::new();
        let mut layer_arguments = Vec::new();
        // A gap in the arguments of the function, and of the call on the constructed object.
        let mut gaps = [false; 2];
        for (param, value) in self.params.iter().zip(values) {
            let gap = &mut gaps[usize::from(param.call)];
            let passed = if param.call {
                &mut layer_arguments
            } else {
                &mut arguments
            };
            let mut push = |passing, value| {
                passed.push(AbstractArgument {
                    name: param.name.clone(),
                    passing,
                    value,
                });
            };
            let left_out = param.may_be_left_out
                && matches!(&value, AbstractValue::Literal(literal)
                    if *literal == Value::None || param.default.as_ref() == Some(literal));
            match (param.place, value) {
                (Place::Keyword, _) if left_out => {}
                _ if left_out => *gap = true,
                (Place::Keyword, value) => push(Passing::Keyword, value),
                (Place::Either, value) if *gap => push(Passing::Keyword, value),
                _ if *gap => return None,
                (Place::Rest, AbstractValue::List(items)) => {
                    items
                        .into_iter()
                        .for_each(|item| push(Passing::Positional, item));
                }
                (_, value) => push(Passing::Positional, value),
            }
        }
        Some(AbstractInput {
            arguments,
            layer_arguments: self.layer.then_some(layer_arguments),
            intent,
        })
    }

    /// What rules see of a call, with these facts of its tensors' elements.
    pub(crate) fn data(&self, input: &ConcreteInput, facts: FactSet) -> Vec<Datum> {
        let layer = input.layer_arguments.as_deref().unwrap_or(&[]);
        self.params
            .iter()
            .map(|param| {
                let all: &[Argument] = if param.call { layer } else { &input.arguments };
                let mut given = all.iter().filter(|argument| argument.name == param.name);
                if param.place == Place::Rest {
                    return Datum::List(
                        given
                            .map(|argument| Datum::knowing(&argument.value, facts))
                            .collect(),
                    );
                }
                match (given.next(), &param.default) {
                    (Some(argument), _) => Datum::knowing(&argument.value, facts),
                    (None, Some(default)) => Datum::from(default),
                    (None, None) => Datum::None,
                }
            })
            .collect()
    }
}

/// The installed library's name for a parameter that the version the rules are of called otherwise: both are required and
/// have the same position, and neither side knows the other's name.
fn renamed<'a>(at: usize, file: &RuleFile, signature: Option<&'a Signature>) -> Option<&'a str> {
    let declared = signature?.params.as_deref()?;
    let name = &file.params[at].declaration.name;
    let now = declared.get(at)?;
    let is_required = now.kind == "positional_or_keyword" && now.default.is_none();
    let old_is_gone = declared.iter().all(|known| known.name != *name);
    let mut own = file.params.iter();
    let is_new = own.all(|param| param.declaration.name != now.name);
    let fits = is_required && old_is_gone && is_new && file.params[at].default.is_none();
    (fits && !stands_for_a_position(name)).then_some(now.name.as_str())
}

/// Names that stand for a position: the object of a method, arguments nobody named.
fn stands_for_a_position(name: &str) -> bool {
    name == "self" || is_numbered(name)
}

/// What the file says; else what the installed library declares.
fn own_place(
    at: usize,
    param: &FileParam,
    file: &RuleFile,
    signature: Option<&Signature>,
) -> Place {
    if param.place != Place::Either {
        return param.place;
    }
    if renamed(at, file, signature).is_some() {
        return Place::Positional;
    }
    let name = &param.declaration.name;
    let declared = signature.and_then(|signature| signature.params.as_deref());
    let known = declared.and_then(|params| params.iter().find(|known| known.name == *name));
    match known.map(|known| known.kind.as_str()) {
        Some("positional_only") => Place::Positional,
        Some("keyword_only") => Place::Keyword,
        Some("var_positional") => Place::Rest,
        // A parameter before it that the rules do not speak of leaves a gap.
        Some(_) if !all_before(name, file, signature) => Place::Keyword,
        Some(_) => Place::Either,
        None if stands_for_a_position(name) => Place::Positional,
        None if is_rest(param) => Place::Rest,
        // A library that tells nothing of its parameters has at least these.
        None if declared.is_none() && param.default.is_none() => Place::Either,
        None => Place::Keyword,
    }
}

/// Does the file have every parameter that is declared before this one?
fn all_before(name: &str, file: &RuleFile, signature: Option<&Signature>) -> bool {
    let declared = signature.and_then(|signature| signature.params.as_deref());
    let declared = declared.into_iter().flatten();
    let mut before = declared.take_while(|known| known.name != name);
    before.all(|known| {
        file.params.iter().enumerate().any(|(at, param)| {
            let own = renamed(at, file, signature).unwrap_or(&param.declaration.name);
            own == known.name
        })
    })
}

/// `argument0`: what `fissure learn` calls an argument without a name.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix("argument")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Rule files write the default of `*name` as an empty tuple.
fn is_rest(param: &FileParam) -> bool {
    param.default.as_deref() == Some("()")
}
