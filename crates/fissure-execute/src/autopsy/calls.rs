//! Whether an address is one that a call returns to, from the instruction before it.

/// Bytes before a return address that are looked at.
pub(super) const BEFORE: usize = 8;

/// `before` are the bytes that end where the return address points to.
#[cfg(target_arch = "x86_64")]
pub(super) fn returns_here(before: [u8; BEFORE]) -> bool {
    const CALL: u8 = 0xe8;
    const CALL_LENGTH: usize = 5;
    const CALL_THROUGH: u8 = 0xff;
    const LENGTHS: [usize; 5] = [2, 3, 4, 6, 7];
    before[BEFORE - CALL_LENGTH] == CALL
        || LENGTHS.iter().any(|length| {
            let instruction = &before[BEFORE - length..];
            instruction[0] == CALL_THROUGH && length_of_call_through(instruction) == Some(*length)
        })
}

/// The length of `call` through a register or memory, from its operand bytes.
#[cfg(target_arch = "x86_64")]
fn length_of_call_through(instruction: &[u8]) -> Option<usize> {
    let operand = *instruction.get(1)?;
    let (mode, kind, base) = (operand >> 6, (operand >> 3) & 7, operand & 7);
    if kind != 2 {
        return None;
    }
    if mode == 3 {
        return Some(2);
    }
    // A base of 4 means that another byte says more.
    let scaled = base == 4;
    let base = if scaled {
        instruction.get(2)? & 7
    } else {
        base
    };
    let displacement = match mode {
        0 if base == 5 => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    Some(2 + usize::from(scaled) + displacement)
}

#[cfg(not(target_arch = "x86_64"))]
pub fn returns_here(before: [u8; BEFORE]) -> bool {
    let [_, _, _, _, rest @ ..] = before;
    let instruction = u32::from_le_bytes(rest);
    // `bl` and `blr`.
    instruction & 0xfc00_0000 == 0x9400_0000 || instruction & 0xffff_fc1f == 0xd63f_0000
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn after(instruction: &[u8]) -> bool {
        let mut before = [0x90; BEFORE];
        before[BEFORE - instruction.len()..].copy_from_slice(instruction);
        returns_here(before)
    }

    #[test]
    fn calls_of_every_form_are_seen() {
        for call in [
            &[0xe8, 1, 2, 3, 4][..],
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd4],
            &[0xff, 0x50, 0x18],
            &[0xff, 0x14, 0xc7],
            &[0xff, 0x54, 0x24, 0x08],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x90, 1, 2, 3, 4],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
        ] {
            assert!(after(call), "{call:x?}");
        }
    }

    #[test]
    fn other_instructions_are_none() {
        for other in [
            &[0x90][..],
            &[0xff, 0xe0],
            &[0xff, 0xc0],
            &[0xff, 0xd0, 0x90],
            &[0xe9, 1, 2, 3, 4],
            &[0xc3],
        ] {
            assert!(!after(other), "{other:x?}");
        }
    }
}
