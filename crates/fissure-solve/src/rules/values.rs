//! Which value a variable gets: a tester's choice, within what is still possible.

use crate::random::Random;
use crate::rules::interval::Interval;
use crate::rules::outline::Role;

/// Sizes that are drawn freely, by rank: larger ones only now and then, so that inputs stay small.
const COMFORTABLE: [u64; 6] = [64, 64, 32, 16, 10, 6];

const REALS: [f64; 12] = [
    0.0, 1.0, 0.5, 2.0, -1.0, 0.1, 1e-5, 10.0, -0.5, 3.0, 1e-3, 100.0,
];

/// A value of the domain, which is not empty.
pub(crate) fn draw(domain: Interval, role: Role, reach: f64, random: &mut Random) -> f64 {
    match role {
        Role::Real => real(domain, random),
        Role::Dimension(rank) => {
            let comfortable = COMFORTABLE[rank.min(COMFORTABLE.len() - 1)] as f64;
            whole(domain, comfortable * reach, random)
        }
        Role::Whole | Role::Element | Role::Option => whole(domain, 16.0 * reach, random),
    }
}

fn whole(domain: Interval, comfortable: f64, random: &mut Random) -> f64 {
    if domain.is_fixed() {
        return domain.low;
    }
    // Around the end of the domain that is nearest to 0.
    let home = 0.0f64.clamp(domain.low, domain.high);
    let top = domain.high.min(home + comfortable);
    let bottom = domain.low.max(home - comfortable / 4.0);
    let bits = random.bits();
    let roll = bits & 0xff;
    let extra = bits >> 8;
    let value = match roll {
        0..=23 => domain.low.max(bottom),
        24..=39 => top,
        40..=95 => home + (extra % 3) as f64,
        96..=119 => (1u64 << (extra % 12)) as f64,
        // Boundaries of the domain itself, however far.
        120..=123 if domain.high <= 1024.0 => return domain.high,
        124..=127 if domain.low >= -1024.0 => return domain.low,
        _ => {
            let width = (top - bottom) / domain.step;
            let steps = width.max(0.0) as u64 + 1;
            bottom + (extra % steps) as f64 * domain.step
        }
    };
    domain.snap(value.clamp(bottom, top.max(bottom)))
}

fn real(domain: Interval, random: &mut Random) -> f64 {
    let start = random.index(REALS.len() * 2);
    if start < REALS.len() {
        for offset in 0..REALS.len() {
            let value = REALS[(start + offset) % REALS.len()];
            if domain.contains(value) {
                return value;
            }
        }
    }
    let low = domain.low.max(-100.0).min(domain.high);
    let high = domain.high.min(low.max(0.0) + 100.0);
    // Few digits, so that people can read them.
    let value = low + random.unit() * (high - low);
    let rounded = (value * 1024.0).round() / 1024.0;
    if domain.contains(rounded) {
        rounded
    } else {
        value.clamp(domain.low, domain.high)
    }
}
