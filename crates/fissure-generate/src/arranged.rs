//! Elements that have something to do with each other: permutations, one-hot rows, rising rows.

use fissure_model::FillScheme;
use fissure_solve::Random;

/// The elements of a tensor of this shape between the bounds, where the scheme arranges them.
///
/// Where the bounds leave no room for the arrangement, it is as near as can be: whoever needs the
/// fact looks at the elements.
pub(crate) fn arranged(
    scheme: FillScheme,
    shape: &[u64],
    count: u64,
    (lower, upper): (f64, f64),
    random: &mut Random,
) -> Option<Vec<f64>> {
    let count = usize::try_from(count).ok()?;
    let row = shape.last().map_or(1, |last| *last as usize).max(1);
    Some(match scheme {
        FillScheme::Permutation => shuffled((0..count).map(|at| at as f64).collect(), random),
        FillScheme::Distinct => {
            let first = lower.max(-(count as f64 / 2.0).floor());
            let step = ((upper - first) / count.max(1) as f64).min(1.0);
            let rising = (0..count).map(|at| first + at as f64 * step);
            shuffled(rising.collect(), random)
        }
        FillScheme::OneHot => {
            let mut elements = vec![0.0; count];
            for row in elements.chunks_mut(row) {
                let hot = random.index(row.len());
                row[hot] = 1.0;
            }
            elements
        }
        FillScheme::Rising => {
            let mut elements = vec![0.0; count];
            for row in elements.chunks_mut(row) {
                let mut next = lower.max(-(random.below(8) as f64)).min(upper);
                for element in row {
                    *element = next;
                    next = (next + random.below(3) as f64).min(upper);
                }
            }
            elements
        }
        _ => return None,
    })
}

fn shuffled(mut elements: Vec<f64>, random: &mut Random) -> Vec<f64> {
    for last in (1..elements.len()).rev() {
        elements.swap(last, random.index(last + 1));
    }
    elements
}
