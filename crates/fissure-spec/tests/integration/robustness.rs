//! No file content ends the program: damaged files load or are refused, they never panic.

use std::path::Path;

use fissure_spec::{hints, load_text, relaxed_order, repair};
use proptest::prelude::*;

const WHOLE: &str = include_str!("../../../../examples/specs/torch.nn.functional.conv2d.yaml");

fn survive(text: &str) {
    if let Ok(loaded) = load_text(Path::new("damaged.yaml"), text) {
        let (repaired, _) = repair(&loaded.spec);
        for spec in [&loaded.spec, &repaired] {
            let params = spec.params.len() + spec.layer_params.len();
            assert_eq!(hints(spec).len(), params);
            assert_eq!(relaxed_order(spec).0.len(), spec.params.len());
        }
    }
}

proptest! {
    #[test]
    fn a_file_with_pieces_cut_out_and_put_elsewhere_is_survived(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, any::<prop::sample::Index>()), 1..4),
    ) {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (from, length, to) in cuts {
            let from = from.index(text.len());
            let until = (from + length).min(text.len());
            let piece: Vec<char> = text.drain(from..until).collect();
            let to = to.index(text.len().max(1)).min(text.len());
            text.splice(to..to, piece);
        }
        survive(&text.into_iter().collect::<String>());
    }

    #[test]
    fn a_file_with_one_strange_character_is_survived(
        at in any::<prop::sample::Index>(),
        strange in prop::sample::select(vec!['\0', '\t', '&', '*', '{', '[', '"', '\'', '|', '%', '@', 'é', '\u{feff}', '\r']),
    ) {
        let mut text: Vec<char> = WHOLE.chars().collect();
        let at = at.index(text.len());
        text[at] = strange;
        survive(&text.into_iter().collect::<String>());
    }

    #[test]
    fn any_description_is_survived(description in "\\PC{0,120}") {
        let quoted = description.replace(['\\', '"'], "");
        let text = format!(
            "title: torch.f\npackage: torch\ninputs: {{required: [a, input], optional: []}}\nconstraints:\n  a: {{doc_dtype: \"{quoted}\", descp: \"{quoted}\", default: \"{quoted}\", enum: [\"{quoted}\"]}}\n  input: {{}}\n"
        );
        survive(&text);
    }
}
