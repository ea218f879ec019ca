//! The machine code that runs inside the process whose coverage is taken.
//!
//! It is a handful of instructions without any reference to the outside, so that it can be copied
//! into a page of that process: no library of ours has to be built for, found by or loaded into the
//! interpreter. The page after it holds its [`State`].
//!
//! The handler is called by the kernel with a signal's number, description and context. It may
//! interrupt anything, so it calls nothing, takes no lock and allocates nothing.

/// Offsets of words in the page behind the code, as `coverage.py` fills them.
#[derive(Clone, Copy, Debug)]
pub struct State;

impl State {
    /// Where the page of words begins, counted from the code.
    pub const PAGE: usize = 4096;
    /// Address of the list of hits, or 0: its number of entries, its capacity, then the entries.
    pub const LIST: usize = 0;
    /// Address of a word that says what runs, or 0; it is noted with every hit.
    pub const CURRENT: usize = 8;
    /// How many modules follow.
    pub const COUNT: usize = 16;
    /// The first module: begin and end of its code, and where the original bytes of it lie.
    pub const MODULES: usize = 32;
    /// Bytes of one module's words.
    pub const MODULE: usize = 24;
    /// So many fit.
    pub const MOST_MODULES: usize = (4096 - Self::MODULES) / Self::MODULE;
}

/// Bytes of a list before its entries.
pub const LIST_HEADER: usize = 16;
/// An address, and what ran then.
pub const ENTRY: usize = 16;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
std::arch::global_asm!(
    ".pushsection .rodata.fissure_coverage,\"a\",@progbits",
    ".balign 16",
    ".globl fissure_coverage_begin",
    "fissure_coverage_begin:",
    // The handler: edi is the signal, rsi its description, rdx the context; rip is at 168.
    "mov rax, [rdx + 168]",
    "dec rax",
    "lea r8, [rip + fissure_coverage_begin + 4096]",
    "mov rcx, [r8 + 16]",
    "lea r9, [r8 + 32]",
    "2:",
    "test rcx, rcx",
    "jz 5f",
    "cmp rax, [r9]",
    "jb 3f",
    "cmp rax, [r9 + 8]",
    "jb 4f",
    "3:",
    "add r9, 24",
    "dec rcx",
    "jmp 2b",
    // Inside a module: the original byte goes back and the instruction runs again.
    "4:",
    "mov r10, [r9 + 16]",
    "add r10, rax",
    "sub r10, [r9]",
    "movzx r10d, byte ptr [r10]",
    // A trap of the library itself.
    "cmp r10b, 0xcc",
    "je 5f",
    "mov [rax], r10b",
    "mov [rdx + 168], rax",
    "mov r11, [r8]",
    "test r11, r11",
    "jz 7f",
    "mov ecx, 1",
    "lock xadd [r11], rcx",
    "cmp rcx, [r11 + 8]",
    "jae 7f",
    "shl rcx, 4",
    "mov [r11 + rcx + 16], rax",
    "mov r10, [r8 + 8]",
    "test r10, r10",
    "jz 6f",
    "mov r10, [r10]",
    "6:",
    "mov [r11 + rcx + 24], r10",
    "7:",
    "ret",
    // No trap of ours: the default action, then the same instruction again, which ends the process
    // as it would have ended without us. rt_sigaction(SIGTRAP, {0}, 0, 8).
    "5:",
    "mov [rdx + 168], rax",
    "sub rsp, 40",
    "mov qword ptr [rsp], 0",
    "mov qword ptr [rsp + 8], 0",
    "mov qword ptr [rsp + 16], 0",
    "mov qword ptr [rsp + 24], 0",
    "mov edi, 5",
    "mov rsi, rsp",
    "xor edx, edx",
    "mov r10d, 8",
    "mov eax, 13",
    "syscall",
    "add rsp, 40",
    "ret",
    // arm(addresses in the file, how many, what to add to each)
    ".balign 16",
    ".globl fissure_coverage_arm",
    "fissure_coverage_arm:",
    "test rsi, rsi",
    "jz 9f",
    "8:",
    "mov eax, [rdi]",
    "mov byte ptr [rdx + rax], 0xcc",
    "add rdi, 4",
    "dec rsi",
    "jnz 8b",
    "9:",
    "ret",
    // rearm(entries of a list, how many)
    ".balign 16",
    ".globl fissure_coverage_rearm",
    "fissure_coverage_rearm:",
    "test rsi, rsi",
    "jz 11f",
    "10:",
    "mov rax, [rdi]",
    "mov byte ptr [rax], 0xcc",
    "add rdi, 16",
    "dec rsi",
    "jnz 10b",
    "11:",
    "ret",
    ".globl fissure_coverage_end",
    "fissure_coverage_end:",
    ".popsection",
);

/// The code, and where in it the functions begin that are called by name; the handler is at 0.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    pub bytes: &'static [u8],
    pub arm: usize,
    pub rearm: usize,
}

/// `None` on other kinds of machines.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub fn code() -> Option<Code> {
    unsafe extern "C" {
        static fissure_coverage_begin: u8;
        static fissure_coverage_arm: u8;
        static fissure_coverage_rearm: u8;
        static fissure_coverage_end: u8;
    }
    let begin = &raw const fissure_coverage_begin;
    let offset = |label: *const u8| label.addr() - begin.addr();
    let length = offset(&raw const fissure_coverage_end);
    // SAFETY: both labels are in one section, in this order, and what lies between them is the code
    // above, which nobody changes.
    let bytes = unsafe { std::slice::from_raw_parts(begin, length) };
    Some(Code {
        bytes,
        arm: offset(&raw const fissure_coverage_arm),
        rearm: offset(&raw const fissure_coverage_rearm),
    })
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub fn code() -> Option<Code> {
    None
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_code_fits_its_page_and_begins_with_the_handler() {
        let code = code().unwrap();
        assert!(code.bytes.len() < State::PAGE);
        assert!(code.arm < code.rearm && code.rearm < code.bytes.len());
        // mov rax, [rdx + 168]
        assert_eq!(code.bytes[..3], [0x48, 0x8b, 0x82]);
    }
}
