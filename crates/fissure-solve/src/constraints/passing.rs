//! By name or by position.

use fissure_model::{Param, Passing, Role, Signature, Spec};

/// How one argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassingPlan {
    Fixed(Passing),
    /// The library does not tell its parameter names: by name, sometimes by position.
    Open,
    /// The installed library has no such parameter; an optional one is left away.
    Impossible,
}

pub(crate) fn passing_of(spec: &Spec, index: usize, signature: Option<&Signature>) -> PassingPlan {
    let param = &spec.params[index];
    if param.role == Role::VarPositional {
        return PassingPlan::Fixed(Passing::Positional);
    }
    if let Some(passing) = said(param) {
        return PassingPlan::Fixed(passing);
    }
    // Python takes no positional argument after one by name.
    let star_follows = spec
        .params
        .iter()
        .any(|param| param.role == Role::VarPositional);
    if star_follows && param.role == Role::Required {
        return PassingPlan::Fixed(Passing::Positional);
    }
    let Some(known) = signature.and_then(|signature| signature.params.as_ref()) else {
        return if param.role == Role::Required {
            PassingPlan::Open
        } else {
            PassingPlan::Fixed(Passing::Keyword)
        };
    };
    let kind_of = |name: &str| {
        known
            .iter()
            .find(|p| p.name == name)
            .map(|p| p.kind.as_str())
    };
    let takes_any = known.iter().any(|param| param.kind == "var_keyword");
    let by_name = |name: &str| match kind_of(name) {
        Some("positional_only" | "var_positional") => false,
        Some(_) => true,
        None => takes_any,
    };
    if by_name(&param.name) {
        // A later required parameter that cannot go by name pulls this one along.
        let pulled = param.role == Role::Required
            && kind_of(&param.name) != Some("keyword_only")
            && spec.params[index + 1..]
                .iter()
                .any(|later| later.role == Role::Required && !by_name(&later.name));
        let passing = if pulled {
            Passing::Positional
        } else {
            Passing::Keyword
        };
        return PassingPlan::Fixed(passing);
    }
    if param.role == Role::Required {
        PassingPlan::Fixed(Passing::Positional)
    } else {
        PassingPlan::Impossible
    }
}

/// How the source of the spec says that it is passed.
fn said(param: &Param) -> Option<Passing> {
    param.hints.as_ref()?.passing
}

/// The same for a parameter of the call on a constructed object, of which no signature is asked.
pub(crate) fn layer_passing(param: &Param) -> PassingPlan {
    PassingPlan::Fixed(match (said(param), param.role) {
        (Some(passing), _) => passing,
        (None, Role::Optional | Role::KeywordOnly) if param.hints.is_some() => Passing::Keyword,
        _ => Passing::Positional,
    })
}

#[cfg(test)]
mod tests {
    use fissure_model::{Api, Constraint, SignatureParam};

    use super::*;

    fn spec(params: &[(&str, Role)]) -> Spec {
        let param = |(name, role): &(&str, Role)| Param {
            name: (*name).into(),
            role: *role,
            deprecated: false,
            default: None,
            default_text: None,
            doc_dtype: None,
            description: None,
            constraint: Constraint::default(),
            line: None,
            hints: None,
        };
        Spec {
            api: Api::default(),
            params: params.iter().map(param).collect(),
            layer_params: vec![],
            symbols: vec![],
            check_nan: false,
            aliases: vec![],
            source: None,
            rules: None,
            forms: vec![],
            examples: Vec::new(),
        }
    }

    fn signature(params: &[(&str, &str)]) -> Signature {
        let param = |(name, kind): &(&str, &str)| SignatureParam {
            name: (*name).into(),
            kind: (*kind).into(),
            default: None,
        };
        Signature::of_function("1", Some(params.iter().map(param).collect()))
    }

    #[test]
    fn a_renamed_required_parameter_goes_by_position_and_pulls_the_earlier_ones() {
        let spec = spec(&[
            ("input", Role::Required),
            ("input2", Role::Required),
            ("upper", Role::Optional),
        ]);
        let signature = signature(&[
            ("input", "positional_or_keyword"),
            ("L", "positional_or_keyword"),
            ("upper", "positional_or_keyword"),
        ]);
        let passing = |index| passing_of(&spec, index, Some(&signature));
        assert_eq!(passing(0), PassingPlan::Fixed(Passing::Positional));
        assert_eq!(passing(1), PassingPlan::Fixed(Passing::Positional));
        assert_eq!(passing(2), PassingPlan::Fixed(Passing::Keyword));
    }

    #[test]
    fn an_optional_parameter_that_is_gone_cannot_be_passed() {
        let spec = spec(&[("x", Role::Required), ("old", Role::Optional)]);
        let known = [("x", "positional_or_keyword")];
        assert_eq!(
            passing_of(&spec, 1, Some(&signature(&known))),
            PassingPlan::Impossible
        );
        let any = [("x", "positional_or_keyword"), ("kw", "var_keyword")];
        assert_eq!(
            passing_of(&spec, 1, Some(&signature(&any))),
            PassingPlan::Fixed(Passing::Keyword)
        );
    }

    #[test]
    fn without_a_signature_required_parameters_are_open() {
        let spec = spec(&[("x", Role::Required), ("o", Role::Optional)]);
        assert_eq!(passing_of(&spec, 0, None), PassingPlan::Open);
        assert_eq!(
            passing_of(&spec, 1, None),
            PassingPlan::Fixed(Passing::Keyword)
        );
    }
}
