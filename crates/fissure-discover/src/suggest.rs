//! Names that a mistyped one may mean.

/// Suggestions at most.
const SHOWN: usize = 3;
/// Least similarity (Jaro-Winkler) of a suggestion.
const SIMILAR: f64 = 0.84;

/// The names most like `wanted`, the likeliest first. The last part of a name decides where the
/// rest is the same; a right last part under another module is a good guess too.
pub fn suggest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let wanted_last = last(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .filter(|name| *name != wanted)
        .map(|name| {
            let whole = strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase());
            let end = strsim::jaro_winkler(&wanted_last, &last(name));
            // What the user remembers is the name of the function, not where it lives.
            let alike = 0.3 * whole + 0.7 * end;
            // One slip of the fingers comes first, however little alike a short name is then.
            let slip = strsim::osa_distance(wanted, name) == 1;
            (if slip { 1.0 + alike } else { alike }, name)
        })
        .filter(|(score, _)| *score >= SIMILAR)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    scored.dedup_by(|one, other| one.1 == other.1);
    scored
        .into_iter()
        .take(SHOWN)
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = [
        "torch.nn.functional.pixel_shuffle",
        "torch.pixel_shuffle",
        "torch.pixel_unshuffle",
        "torch.add",
        "torch.nn.Linear",
    ];

    #[test]
    fn a_typing_error_finds_the_name_that_was_meant() {
        assert_eq!(
            suggest("torch.pixel_shufle", NAMES)[0],
            "torch.pixel_shuffle"
        );
        assert_eq!(suggest("torch.nn.linear", NAMES), ["torch.nn.Linear"]);
    }

    #[test]
    fn one_slip_of_the_fingers_is_seen_in_a_short_name_too() {
        let names = ["numpy.linalg.svd", "numpy.linalg.qr", "numpy.linalg.det"];
        assert_eq!(suggest("numpy.linalg.sdv", names), ["numpy.linalg.svd"]);
        assert_eq!(suggest("numpy.linalg.rq", names), ["numpy.linalg.qr"]);
        assert!(suggest("numpy.linalg.xyz", names).is_empty());
        let names = ["torch.exp2", "torch.exp_", "torch.exp"];
        assert_eq!(suggest("torch.epx", names)[0], "torch.exp");
    }

    #[test]
    fn a_name_under_the_wrong_module_is_found_by_its_last_part() {
        assert!(suggest("torch.functional.pixel_shuffle", NAMES).contains(&NAMES[0]));
    }

    #[test]
    fn what_resembles_nothing_gets_no_suggestion() {
        assert!(suggest("torch.zzz_qqq", NAMES).is_empty());
    }
}
