//! Which function an address belongs to, from a file's symbol tables.

use std::cmp::Reverse;

use object::elf::{
    FileHeader64, SHT_DYNSYM, SHT_SYMTAB, STB_GLOBAL, STB_WEAK, STT_FUNC, STT_GNU_IFUNC,
    STT_NOTYPE, Sym64,
};
use object::read::elf::{FileHeader, Sym};

use fissure_coverage::names::function_name;

type Header = FileHeader64<object::LittleEndian>;
const ENDIAN: object::LittleEndian = object::LittleEndian;

/// An address whose function is to be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pub address: u64,
    /// Where its function begins, as far as the unwinding tables know.
    pub function: Option<u64>,
}

/// How good a name is: functions written in assembler may have no size, and several names of one
/// function are common (`raise` and `gsignal`), of which always the same one has to win.
type Rank<'a> = (bool, u8, Reverse<usize>, Reverse<&'a [u8]>);

/// The names, in the order of `wanted`, which is sorted.
///
/// All symbols are looked at, half a million of them in libtorch, in a few milliseconds. Keeping
/// them sorted would make the first crash slower, and the later ones find their names in
/// [`super::module::Module`] anyway.
pub(super) fn find(data: &[u8], wanted: &[Wanted]) -> Vec<Option<String>> {
    let mut best: Vec<Option<Rank<'_>>> = vec![None; wanted.len()];
    if let Ok(sections) = Header::parse(data).and_then(|header| header.sections(ENDIAN, data)) {
        for kind in [SHT_SYMTAB, SHT_DYNSYM] {
            let Ok(table) = sections.symbols(ENDIAN, data, kind) else {
                continue;
            };
            for symbol in table.iter().filter(|symbol| is_function(symbol)) {
                for position in places(symbol, wanted) {
                    if let Ok(name) = table.symbol_name(ENDIAN, symbol)
                        && !name.is_empty()
                    {
                        let rank = rank(symbol, name);
                        if best[position].is_none_or(|best| best < rank) {
                            best[position] = Some(rank);
                        }
                    }
                }
            }
        }
    }
    best.into_iter()
        .map(|best| {
            let (_, _, _, Reverse(name)) = best?;
            Some(function_name(&String::from_utf8_lossy(name)))
        })
        .collect()
}

fn is_function(symbol: &Sym64<object::LittleEndian>) -> bool {
    matches!(symbol.st_type(), STT_FUNC | STT_GNU_IFUNC | STT_NOTYPE)
        && !symbol.is_undefined(ENDIAN)
        && !symbol.is_absolute(ENDIAN)
}

/// Which of the wanted addresses a symbol covers.
fn places(symbol: &Sym64<object::LittleEndian>, wanted: &[Wanted]) -> impl Iterator<Item = usize> {
    let start = symbol.st_value(ENDIAN);
    let size = symbol.st_size(ENDIAN);
    let first = wanted.partition_point(|wanted| wanted.address < start);
    wanted[first..]
        .iter()
        .take_while(move |wanted| {
            if size == 0 {
                wanted.function == Some(start)
            } else {
                wanted.address - start < size
            }
        })
        .enumerate()
        .map(move |(offset, _)| first + offset)
}

fn rank<'a>(symbol: &Sym64<object::LittleEndian>, name: &'a [u8]) -> Rank<'a> {
    let binding = match symbol.st_bind() {
        STB_GLOBAL => 2,
        STB_WEAK => 1,
        _ => 0,
    };
    (
        symbol.st_size(ENDIAN) > 0,
        binding,
        Reverse(name.len()),
        Reverse(name),
    )
}
