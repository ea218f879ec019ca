//! Drawn inputs with what outcomes have told so far.

use fissure_model::{ConcreteInput, Intent};
use fissure_solve::Random;

use super::Generator;
use crate::source::{has_dtypes, tensor_bytes};

impl Generator {
    /// A drawn input, most often with what accepted ones have in common.
    pub(super) fn tied_or_as_drawn(
        &mut self,
        number: u64,
        drawn: ConcreteInput,
        random: &mut Random,
    ) -> ConcreteInput {
        let Some(repairs) = &self.repairs else {
            return drawn;
        };
        let may_break = repairs.is_stale() || repairs.is_fruitless();
        let fits = |input: &ConcreteInput| {
            tensor_bytes(input) <= self.options.max_tensor_bytes
                && has_dtypes(input, self.options.dtypes.as_deref())
        };
        let mut drawn = drawn;
        let mut is_fulfilled = false;
        if drawn.intent == Intent::Conform
            && let Some(better) = repairs.fulfilled(&drawn, random).filter(|it| fits(it))
        {
            let conforms = self.allows(&better);
            if conforms || may_break {
                is_fulfilled = true;
                drawn = better;
                if !conforms {
                    drawn.intent = Intent::Ignore;
                }
            }
        }
        let tied = repairs
            .tied(&drawn, random)
            .filter(|tied| fits(tied) && self.allows(tied));
        let Some(repairs) = &mut self.repairs else {
            return drawn;
        };
        let made = match tied {
            Some(tied) => {
                repairs.remember_tied(number, &tied);
                tied
            }
            None => {
                repairs.remember(number, &drawn, 0);
                drawn
            }
        };
        repairs.remember_fulfilled(is_fulfilled);
        made
    }
}
