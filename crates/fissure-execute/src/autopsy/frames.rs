//! The functions on a stack, and how they are told.

use std::sync::Arc;

use super::module::Module;
use super::recursion::without_depth;

/// A function that a thread was in.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    /// An address that the file was linked with.
    Module { module: Arc<Module>, address: u64 },
    /// A file that could not be read, and the place in it.
    File { name: String, offset: u64 },
    /// Code that was made at run time.
    Generated,
    /// Not code at all: a call through a broken pointer.
    Nowhere,
}

/// What was found on the stack of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// It has become too deep.
    pub overflowed: bool,
}

/// Frames as text, `module!function`, or `module+0x…` with the place where a function without a
/// name begins.
pub(super) fn describe(stack: &Stack) -> Vec<String> {
    let frames = &stack.frames;
    let texts = frames.iter().map(|frame| frame.describe(frames)).collect();
    if stack.overflowed {
        without_depth(texts)
    } else {
        texts
    }
}

impl Frame {
    fn describe(&self, all: &[Frame]) -> String {
        match self {
            Frame::Module { module, address } => {
                // One search for all frames of the module; the others find it done.
                let mut addresses = vec![*address];
                addresses.extend(all.iter().filter_map(|frame| match frame {
                    Frame::Module {
                        module: other,
                        address,
                    } if Arc::ptr_eq(module, other) => Some(*address),
                    _ => None,
                }));
                match module.names(&addresses).swap_remove(0) {
                    Some(name) => format!("{}!{name}", module.name),
                    None => {
                        let place = module.function(*address).unwrap_or(*address);
                        format!("{}+{place:#x}", module.name)
                    }
                }
            }
            Frame::File { name, offset } => format!("{name}+{offset:#x}"),
            Frame::Generated => "[generated code]".into(),
            Frame::Nowhere => "[no code]".into(),
        }
    }
}
