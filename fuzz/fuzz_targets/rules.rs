//! Any text: reading it never panics; what is read and printed is read back as the same.

#![no_main]

use fissure_rules::{Precedence, check, explain, load_text, parse_rule};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for precedence in [Precedence::Usual, Precedence::LeftToRight] {
        let loaded = load_text(text, precedence);
        // Drawing what is wrong takes a hundred times as long as finding it: of some texts only, and one error.
        if text.len() % 16 == 0
            && let Some(error) = loaded.errors.first()
        {
            error.render(text, "fuzz", false);
        }
        match parse_rule(text, precedence) {
            Err(error) => {
                assert!(error.span.end <= text.len());
            }
            Ok(rule) => {
                let printed = rule.to_string();
                let again = parse_rule(&printed, Precedence::Usual);
                assert_eq!(again.as_ref(), Ok(&rule), "{printed}");
                explain(&rule);
                if let Ok(checked) = check(&rule) {
                    checked.holds(&[]);
                }
            }
        }
    }
});
