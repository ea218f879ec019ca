//! What a set of blocks means: modules, namespaces and functions reached and not reached.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::CoverageError;
use crate::image::Image;
use crate::record::BlockSet;
use crate::symbols::{namespace, readable};

/// One file of machine code.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleRow {
    pub module: String,
    pub blocks: usize,
    pub reached_blocks: usize,
    pub functions: usize,
    pub reached_functions: usize,
}

/// Functions with a common beginning of their names; those without one go by their module's name in
/// brackets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NamespaceRow {
    pub module: String,
    pub namespace: String,
    pub blocks: usize,
    pub reached_blocks: usize,
    pub functions: usize,
    pub reached_functions: usize,
}

/// A function of which at least one block was reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    pub module: String,
    pub function: String,
    pub blocks: usize,
    pub reached_blocks: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub modules: Vec<ModuleRow>,
    /// Most blocks reached first; those never reached are there too.
    pub namespaces: Vec<NamespaceRow>,
    /// Most blocks reached first.
    pub functions: Vec<FunctionRow>,
    /// Functions never reached in namespaces of which others were, most blocks first; of each namespace the
    /// largest ones.
    pub untouched: Vec<FunctionRow>,
}

/// Functions of one namespace that are named though nothing reached them.
const UNTOUCHED: usize = 200;

impl Summary {
    pub fn reached_blocks(&self) -> usize {
        self.modules.iter().map(|it| it.reached_blocks).sum()
    }

    /// Adds what was reached of one file.
    pub fn add(&mut self, image: &Image, reached: &BlockSet) -> Result<(), CoverageError> {
        let symbols = image.symbols()?;
        let module = image.name();
        let counts = Counts::of(image, reached);
        self.modules.push(ModuleRow {
            module: module.clone(),
            blocks: image.blocks.len(),
            reached_blocks: reached.len(),
            functions: image.functions.len(),
            reached_functions: counts.reached.iter().filter(|count| **count > 0).count(),
        });
        let mut namespaces: BTreeMap<String, NamespaceRow> = BTreeMap::new();
        // Copies of a template have one readable name: they are one row.
        let mut functions: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let mut never: Vec<(usize, String)> = Vec::new();
        for (position, symbol) in symbols.iter().enumerate() {
            let (blocks, reached) = (counts.blocks[position], counts.reached[position]);
            let name = symbol.as_deref().map(readable);
            let space = name.as_deref().and_then(namespace);
            let space = space.map_or_else(|| format!("({module})"), str::to_owned);
            let row = namespaces.entry(space).or_default();
            row.blocks += blocks;
            row.reached_blocks += reached;
            row.functions += 1;
            row.reached_functions += usize::from(reached > 0);
            if reached == 0 {
                never.extend(name.map(|name| (blocks, name)));
            } else {
                let start = image.functions[position].start;
                let name = name.unwrap_or_else(|| format!("(no symbol at {start:#x})"));
                let entry = functions.entry(name).or_default();
                entry.0 += blocks;
                entry.1 += reached;
            }
        }
        self.add_untouched(&module, never, &namespaces, &functions);
        self.namespaces
            .extend(namespaces.into_iter().map(|(namespace, row)| NamespaceRow {
                module: module.clone(),
                namespace,
                ..row
            }));
        self.functions.extend(
            functions
                .into_iter()
                .map(|(function, (blocks, reached_blocks))| FunctionRow {
                    module: module.clone(),
                    function,
                    blocks,
                    reached_blocks,
                }),
        );
        self.namespaces.sort_by(|a, b| {
            (b.reached_blocks, b.blocks, &a.namespace).cmp(&(
                a.reached_blocks,
                a.blocks,
                &b.namespace,
            ))
        });
        self.untouched
            .sort_by(|a, b| (b.blocks, &a.function).cmp(&(a.blocks, &b.function)));
        self.functions
            .sort_by(|a, b| (b.reached_blocks, &a.function).cmp(&(a.reached_blocks, &b.function)));
        Ok(())
    }
}

impl Summary {
    /// Functions that were never reached, in namespaces of which others were.
    fn add_untouched(
        &mut self,
        module: &str,
        never: Vec<(usize, String)>,
        namespaces: &BTreeMap<String, NamespaceRow>,
        functions: &BTreeMap<String, (usize, usize)>,
    ) {
        let own = format!("({module})");
        let mut spaces: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (blocks, name) in &never {
            let space = namespace(name).unwrap_or(&own);
            let touched = namespaces
                .get(space)
                .is_some_and(|row| row.reached_blocks > 0);
            // A copy of a template that was reached is the same function.
            if touched && !functions.contains_key(name) {
                *spaces.entry(space).or_default().entry(name).or_default() += blocks;
            }
        }
        for inside in spaces.into_values() {
            let mut rows: Vec<(&str, usize)> = inside.into_iter().collect();
            rows.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
            let largest = rows.into_iter().take(UNTOUCHED);
            self.untouched
                .extend(largest.map(|(function, blocks)| FunctionRow {
                    module: module.to_owned(),
                    function: function.to_owned(),
                    blocks,
                    reached_blocks: 0,
                }));
        }
    }
}

/// Blocks of each function, and those reached.
struct Counts {
    blocks: Vec<usize>,
    reached: Vec<usize>,
}

impl Counts {
    fn of(image: &Image, reached: &BlockSet) -> Counts {
        let mut counts = Counts {
            blocks: vec![0; image.functions.len()],
            reached: vec![0; image.functions.len()],
        };
        let mut function = 0;
        for block in &image.blocks {
            while image
                .functions
                .get(function)
                .is_some_and(|it| it.end <= *block)
            {
                function += 1;
            }
            if let Some(count) = counts.blocks.get_mut(function) {
                *count += 1;
                counts.reached[function] += usize::from(reached.contains(block));
            }
        }
        counts
    }
}
