//! Which of a crash's native frames say where it happened.

use crate::frames::{NATIVE_NOISE, TOP};

/// Modules through which every crash passes: the C library, the loader, the interpreter, and what
/// calls from one language into another. Compared without directory and version.
const NOISE_MODULES: &[&str] = &[
    "[vdso]",
    "_ctypes",
    "ld-linux",
    "libasan",
    "libc.so",
    "libdl",
    "libffi",
    "libgcc_s",
    "libm.so",
    "libpthread",
    "libpython",
    "libstdc++",
    "python",
];

/// Beginnings of functions that allocate, throw or dispatch: who called them is what matters.
const NOISE_FUNCTIONS: &[&str] = &[
    "THPVariable_",
    "torch::autograd::THP",
    "THPEngine_",
    "at::detail::empty_",
    "at::functorch::",
    "c10::DefaultCPUAllocator",
    "c10::StorageImpl",
    "c10::alloc_cpu",
    "c10::free_cpu",
    "c10::BoxedKernel",
    "c10::OperatorHandle",
    "c10::intrusive_ptr",
    "c10::TensorImpl::release",
    "free",
    "malloc",
    "operator delete",
    "operator new",
    "posix_memalign",
    "pybind11::",
    "std::",
    "torch::ADInplaceOrView::",
    "torch::TraceType::",
    "torch::autograd::VariableType::",
    "tensorflow::port::",
    "absl::",
];

/// Kernels are compiled once per instruction set; which one ran depends on the machine.
const INSTRUCTION_SETS: &[&str] = &["AVX2::", "AVX512::", "DEFAULT::", "ZVECTOR::", "SVE256::"];

/// The innermost frames (`module!symbol`, innermost first) without those that every failure has,
/// named alike on every machine. When nothing else is left, the very innermost one: a crash inside
/// the C library that was called directly is still told apart by the function. What called it is the
/// interpreter, which calls the same function through other ones once it has run often enough.
pub(crate) fn meaningful_frames(frames: &[String]) -> Vec<String> {
    let named: Vec<(&str, String)> = frames
        .iter()
        .filter_map(|frame| {
            let (module, symbol) = frame.split_once('!')?;
            Some((module, function_name(symbol)))
        })
        .filter(|(_, function)| !function.is_empty())
        .collect();
    let mut kept: Vec<String> = named
        .iter()
        .filter(|(module, function)| !is_noise(module, function))
        .map(|(_, function)| function.clone())
        .collect();
    // A recursion, or a template inside a template, is one place.
    kept.dedup();
    if kept.is_empty() {
        kept = frames
            .iter()
            .filter(|frame| !is_noise_module(frame.split('+').next().unwrap_or(frame)))
            .filter(|frame| !frame.contains('!'))
            .cloned()
            .collect();
    }
    if kept.is_empty() {
        let innermost = frames.first().map(|frame| match frame.split_once('!') {
            Some((_, symbol)) => function_name(symbol),
            None => frame.clone(),
        });
        kept.extend(innermost);
    }
    kept.truncate(TOP);
    kept
}

fn is_noise(module: &str, function: &str) -> bool {
    is_noise_module(module)
        || NATIVE_NOISE
            .iter()
            .chain(NOISE_FUNCTIONS)
            .any(|noise| function.starts_with(noise))
}

fn is_noise_module(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or(module);
    name == "libc" || name == "libm" || NOISE_MODULES.iter().any(|noise| name.starts_with(noise))
}

/// `at::native::f` of `at::native::(anonymous namespace)::f<float, 4>(at::Tensor const&) [clone .1]`.
fn function_name(symbol: &str) -> String {
    let mut name = String::with_capacity(symbol.len());
    let mut depth = 0usize;
    let text = symbol
        .replace("(anonymous namespace)::", "")
        .replace("operator<<", "operator_left")
        .replace("operator<", "operator_less")
        .replace("operator>", "operator_more")
        .replace("operator()", "call");
    for c in text.chars() {
        match c {
            // Arguments end the name; template arguments are left out of it.
            '(' | '[' | '{' if depth == 0 => break,
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => name.push(c),
            _ => {}
        }
    }
    for set in INSTRUCTION_SETS {
        name = name.replace(set, "");
    }
    // `void at::native::f` of a template has its result type in front.
    let name = name.trim().trim_end_matches("::");
    name.rsplit(' ').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn dispatcher_allocator_and_interpreter_frames_are_left_out() {
        let crash = frames(&[
            "libc.so.6!gsignal",
            "libc.so.6!abort",
            "libc10.so!c10::alloc_cpu(unsigned long)",
            "libtorch_cpu.so!void at::native::(anonymous namespace)::pool<float>(at::Tensor const&)",
            "libtorch_cpu.so!at::native::AVX2::pool_kernel",
            "libtorch_cpu.so!at::_ops::pool::call(at::Tensor const&)",
            "libtorch_cpu.so!c10::Dispatcher::callBoxed",
            "libtorch_cpu.so!at::pool",
            "libtorch_cpu.so!at::outermost",
            "python3.11!_PyEval_EvalFrameDefault",
        ]);
        assert_eq!(
            meaningful_frames(&crash),
            ["at::native::pool", "at::native::pool_kernel", "at::pool"]
        );
    }

    #[test]
    fn a_crash_in_the_c_library_alone_is_told_by_its_function() {
        let crash = |function: &str| {
            frames(&[
                &format!("libc.so.6!{function}"),
                "libffi.so.8!ffi_call",
                "_ctypes.cpython-311-x86_64-linux-gnu.so!_ctypes_callproc",
            ])
        };
        assert_ne!(
            meaningful_frames(&crash("strlen")),
            meaningful_frames(&crash("memcpy"))
        );
    }

    #[test]
    fn an_interpreter_that_has_warmed_up_makes_no_other_failure() {
        let cold = frames(&[
            "libc!kill",
            "libpython!os_kill",
            "libpython!cfunction_vectorcall",
        ]);
        let warm = frames(&["libc!kill", "libpython!os_kill", "libpython!_PyEval_Vector"]);
        assert_eq!(meaningful_frames(&cold), meaningful_frames(&warm));
        let bare = |offset: &str| frames(&[&format!("libc+{offset}"), "_ctypes!_ctypes_callproc"]);
        assert_ne!(
            meaningful_frames(&bare("0x48c30")),
            meaningful_frames(&bare("0x156200"))
        );
    }

    #[test]
    fn code_without_symbols_is_told_by_its_offset() {
        let crash = frames(&["libc.so.6!raise", "libtorch_cpu.so+0x1234", "python3+0x1"]);
        assert_eq!(meaningful_frames(&crash), ["libtorch_cpu.so+0x1234"]);
    }

    #[test]
    fn names_lose_arguments_and_templates_but_keep_operators() {
        for (symbol, name) in [
            ("at::native::f(at::Tensor const&, long)", "at::native::f"),
            ("void a::g<float, std::vector<int> >(int)", "a::g"),
            ("a::h(int)::{lambda()#1}::operator()() const", "a::h"),
            ("a::B::operator<(a::B const&)", "a::B::operator_less"),
        ] {
            assert_eq!(function_name(symbol), name);
        }
    }
}
