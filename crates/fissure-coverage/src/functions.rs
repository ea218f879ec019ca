//! Where the basic blocks of functions begin, by one sweep over their instructions.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

use crate::image::{Function, Segment};

/// Block starts of all functions, sorted. A function with bytes that are no instruction has only its
/// entry: where its instructions begin is not known, and a byte written into the middle of one would
/// change what the library does.
pub(crate) fn block_starts(data: &[u8], segments: &[Segment], functions: &[Function]) -> Vec<u32> {
    let mut blocks = Vec::with_capacity(functions.len() * 16);
    let mut own = Vec::new();
    for function in functions {
        let Some(code) = bytes_of(data, segments, *function) else {
            continue;
        };
        own.clear();
        if !sweep(code, *function, &mut own) {
            own.clear();
        }
        own.push(function.start);
        own.sort_unstable();
        own.dedup();
        blocks.extend_from_slice(&own);
    }
    blocks
}

fn bytes_of<'a>(data: &'a [u8], segments: &[Segment], function: Function) -> Option<&'a [u8]> {
    let (start, end) = (u64::from(function.start), u64::from(function.end));
    let segment = segments
        .iter()
        .find(|it| start >= it.address && end <= it.address + it.length)?;
    let first = usize::try_from(segment.position + (start - segment.address)).ok()?;
    data.get(first..first + (end - start) as usize)
}

/// Collects the starts inside one function; false when it cannot be decoded to its end.
fn sweep(code: &[u8], function: Function, starts: &mut Vec<u32>) -> bool {
    let mut decoder = Decoder::with_ip(64, code, function.start.into(), DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    // Instruction addresses, to refuse branches into the middle of one.
    let mut addresses = Vec::with_capacity(code.len() / 4);
    let mut ended = false;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            return false;
        }
        let address = instruction.ip() as u32;
        addresses.push(address);
        if ended && !is_padding(&instruction) {
            starts.push(address);
            ended = false;
        }
        let branches = branches(&instruction);
        if let Some(target) = near_target(&instruction).filter(|_| branches)
            && (u64::from(function.start)..u64::from(function.end)).contains(&target)
        {
            starts.push(target as u32);
        }
        ended |= branches || ends_flow(instruction.mnemonic());
    }
    starts.retain(|start| addresses.binary_search(start).is_ok());
    true
}

/// A jump, conditional or not, that says where it goes.
fn near_target(instruction: &Instruction) -> Option<u64> {
    let near = matches!(
        instruction.op0_kind(),
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
    );
    near.then(|| instruction.near_branch_target())
}

fn branches(instruction: &Instruction) -> bool {
    near_target(instruction).is_some() && instruction.mnemonic() != Mnemonic::Call
}

/// What follows can only be reached by a jump.
fn ends_flow(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Jmp
            | Mnemonic::Ret
            | Mnemonic::Retf
            | Mnemonic::Ud2
            | Mnemonic::Hlt
            | Mnemonic::Int3
    )
}

fn is_padding(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
        // What assemblers fill with beside `nop`.
        || instruction.mnemonic() == Mnemonic::Xchg && instruction.op0_register() == instruction.op1_register()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(code: &[u8]) -> Vec<u32> {
        let segment = Segment {
            address: 0x1000,
            position: 0,
            length: code.len() as u64,
        };
        let function = Function {
            start: 0x1000,
            end: 0x1000 + code.len() as u32,
        };
        block_starts(code, &[segment], &[function])
    }

    #[test]
    fn blocks_begin_at_the_entry_after_a_branch_and_at_its_target() {
        // test edi,edi; je +3; lea eax,[rdi+1]; ret (the branch goes to ret)
        let code = [0x85, 0xff, 0x74, 0x03, 0x8d, 0x47, 0x01, 0xc3];
        assert_eq!(starts(&code), [0x1000, 0x1004, 0x1007]);
    }

    #[test]
    fn padding_after_a_return_is_no_block_and_what_follows_it_is() {
        // ret; nop; nop; xor eax,eax; ret
        let code = [0xc3, 0x90, 0x90, 0x31, 0xc0, 0xc3];
        assert_eq!(starts(&code), [0x1000, 0x1003]);
    }

    #[test]
    fn a_function_that_cannot_be_decoded_has_its_entry_only() {
        // je +1; an invalid byte in 64-bit code; ret
        let code = [0x74, 0x01, 0x06, 0xc3];
        assert_eq!(starts(&code), [0x1000]);
    }

    #[test]
    fn a_branch_into_the_middle_of_an_instruction_is_no_block_start() {
        // je +1 (into the lea); lea eax,[rdi+1]; ret
        let code = [0x74, 0x01, 0x8d, 0x47, 0x01, 0xc3];
        assert_eq!(starts(&code), [0x1000, 0x1002]);
    }
}
