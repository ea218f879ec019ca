//! Names of modules and functions as they stand in a signature: the same for the same place in the
//! code, whatever the version, the machine and the types that a template was made for.

use std::path::Path;

use cpp_demangle::{DemangleOptions, Symbol};

/// Longest name; the beginning says where it belongs.
const LONGEST: usize = 160;
/// What may stand behind the parameters of a function.
const QUALIFIERS: [&str; 5] = [" const", " volatile", " &&", " &", " noexcept"];
/// Operators with a bracket that is none.
const OPERATORS: [&str; 15] = [
    "()", "[]", "->*", "->", "<=>", "<<=", "<<", "<=", "<", ">>=", ">>", ">=", ">", "new[]",
    "delete[]",
];
/// What compilers append to the name of a part or a copy of a function.
const PARTS: [&str; 6] = [
    ".cold",
    ".constprop",
    ".isra",
    ".part",
    ".lto_priv",
    ".llvm",
];
const ANONYMOUS: &str = "(anonymous namespace)";

/// `libtorch_cpu` of `/…/libtorch_cpu.so`, `libgomp` of `libgomp-a34b3233.so.1.0.0`, `python` of
/// `python3.11`, `libc` of `libc-2.31.so` and of `libc.so.6`.
pub fn module_name(path: &Path) -> String {
    let file = path.file_name().unwrap_or(path.as_os_str());
    let file = file.to_string_lossy();
    let file = file.trim_end_matches(" (deleted)");
    let (name, rest) = file.split_once('.').unwrap_or((file, ""));
    let mut name = name;
    if let Some((before, after)) = name.rsplit_once('-') {
        // Wheels carry libraries under names with a part of their hash.
        let hash = after.len() == 8 && after.bytes().all(|byte| byte.is_ascii_hexdigit());
        let version = after.bytes().all(|byte| byte.is_ascii_digit())
            && rest.starts_with(|next: char| next.is_ascii_digit());
        if hash || version {
            name = before;
        }
    }
    let unversioned = name.trim_end_matches(|end: char| end.is_ascii_digit());
    if unversioned.ends_with("python") {
        name = unversioned;
    }
    name.to_owned()
}

/// The name of a function without template arguments, parameters and return type. A name that is
/// not C++ stays what it is.
pub fn function_name(symbol: &str) -> String {
    // `name@@VERSION` in some symbol tables.
    let symbol = symbol.split('@').next().unwrap_or(symbol);
    let symbol = whole(symbol);
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = match Symbol::new(symbol).map(|parsed| parsed.demangle_with_options(&options)) {
        Ok(Ok(name)) => shorten(&name),
        _ => symbol.to_owned(),
    };
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// The function of which this is a part or a copy.
fn whole(symbol: &str) -> &str {
    let ends = PARTS.iter().filter_map(|part| symbol.find(part));
    match ends.min() {
        Some(end) if end > 0 => &symbol[..end],
        _ => symbol,
    }
}

fn shorten(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    // The last word is the name; a return type may stand before it.
    let mut word = 0;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("operator")
            && !short.ends_with(|before: char| before.is_alphanumeric() || before == '_')
            && !after.starts_with(|next: char| next.is_alphanumeric() || next == '_')
        {
            let sign = after.trim_start();
            let length = OPERATORS
                .iter()
                .find(|operator| sign.starts_with(**operator))
                .map_or(0, |operator| operator.len());
            let kept = "operator".len() + (after.len() - sign.len()) + length;
            short.push_str(&rest[..kept]);
            rest = &rest[kept..];
            if length == 0 {
                // `operator new`, `operator bool`: the words behind it are part of the name.
                short.push_str(until_bracket(rest));
                rest = &rest[until_bracket(rest).len()..];
            }
            continue;
        }
        if let Some(after) = rest.strip_prefix(ANONYMOUS) {
            short.push_str(ANONYMOUS);
            rest = after;
            continue;
        }
        if let Some(after) = behind_qualifier(rest) {
            rest = after;
            continue;
        }
        match next {
            '<' | '(' | '[' => {
                rest = behind_bracket(rest);
                continue;
            }
            ' ' if rest[1..].starts_with(['<', '(', '[']) => {
                rest = &rest[1..];
                continue;
            }
            ' ' if !within_braces(&short) => word = short.len() + 1,
            _ => {}
        }
        short.push(next);
        rest = &rest[next.len_utf8()..];
    }
    let short = short.get(word..).unwrap_or(&short).trim();
    without_hash(short).to_owned()
}

/// What comes after a qualifier of a function: the end, or what is inside of the function.
fn behind_qualifier(text: &str) -> Option<&str> {
    QUALIFIERS
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .filter(|after| {
            after.is_empty() || after.starts_with("::") || behind_qualifier(after).is_some()
        })
}

/// `{unnamed type#1}` has a space that separates nothing.
fn within_braces(text: &str) -> bool {
    text.rfind('{') > text.rfind('}')
}

fn until_bracket(text: &str) -> &str {
    let end = text.find(['<', '(', '[', ':']).unwrap_or(text.len());
    &text[..end]
}

/// What comes after the bracket that `text` begins with. Arrows inside are no brackets.
fn behind_bracket(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, next) in text.char_indices() {
        match next {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + next.len_utf8()..];
        }
        before = next;
    }
    ""
}

/// Rust functions end in a hash of what they were made for.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((before, hash))
            if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            before
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_lose_folder_version_and_hash() {
        for (path, name) in [
            ("/opt/torch/lib/libtorch_cpu.so", "libtorch_cpu"),
            ("/lib/libc.so.6", "libc"),
            ("/lib/libc-2.31.so", "libc"),
            ("/x/libgomp-a34b3233.so.1.0.0", "libgomp"),
            ("/x/python3.11", "python"),
            ("/x/libpython3.11.so.1.0", "libpython"),
            ("/x/_C.cpython-311-x86_64-linux-gnu.so", "_C"),
            ("/lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64"),
            ("/x/libstdc++.so.6.0.30", "libstdc++"),
            ("/x/libmkl_avx512.so.2", "libmkl_avx512"),
            ("/x/gone.so (deleted)", "gone"),
            ("/x/gone (deleted)", "gone"),
        ] {
            assert_eq!(module_name(Path::new(path)), name, "{path}");
        }
    }

    #[test]
    fn functions_lose_what_is_not_their_name() {
        for (symbol, name) in [
            ("strlen", "strlen"),
            ("raise@@GLIBC_2.2.5", "raise"),
            (
                "_ZN2at6native13pixel_shuffleERKNS_6TensorEl",
                "at::native::pixel_shuffle",
            ),
            (
                "_ZN2at6native13pixel_shuffleERKNS_6TensorEl.cold",
                "at::native::pixel_shuffle",
            ),
            (
                "_ZN2at6native12_GLOBAL__N_14bestEv.constprop.0",
                "at::native::(anonymous namespace)::best",
            ),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector::push_back",
            ),
            ("_ZNKSt8functionIFvvEEclEv", "std::function::operator()"),
            ("_ZlsRSoRK3Foo", "operator<<"),
            ("_ZN3foo3barIiEEvT_", "foo::bar"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(function_name(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn lambdas_and_operators_keep_their_place() {
        for (name, short) in [
            (
                "void at::f<float>(at::Tensor&, int) const::{lambda(auto:1, char)#2}::operator()(int) const",
                "at::f::{lambda#2}::operator()",
            ),
            ("a::operator< <int>(b)", "a::operator<"),
            ("a::operator->() const", "a::operator->"),
            (
                "a::{lambda(int)#1}::operator() const",
                "a::{lambda#1}::operator()",
            ),
            ("a::b const &::{lambda()#1}", "a::b::{lambda#1}"),
            ("int const* a::b", "a::b"),
            (
                "a::operator unsigned long() const",
                "a::operator unsigned long",
            ),
            ("operator new(unsigned long)", "operator new"),
            ("a::{unnamed type#1}::b()", "a::{unnamed type#1}::b"),
            ("std::string[abi:cxx11] a::name[abi:cxx11](int)", "a::name"),
            ("f<(a)(1), decltype(x->y)>::g", "f::g"),
            ("broken<", "broken"),
        ] {
            assert_eq!(shorten(name), short, "{name}");
        }
    }

    #[test]
    fn a_name_without_end_is_cut() {
        let name = function_name(&"é".repeat(1000));
        assert_eq!(name.chars().count(), LONGEST + 1);
    }
}
