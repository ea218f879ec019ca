//! Inputs from constraint files: a spec compiled into a plan of small choices, and a walk over it.
//!
//! In the order of the data: [`compiled`] resolves names, [`plan`] makes a slot of every open
//! choice with the weights of [`priors`] and [`preferences`], [`solver`] is what others call, and
//! [`sample`] draws one input with [`kinds`], [`tensors`], [`shapes`], [`sequences`] and
//! [`scalars`]. [`violate`] and [`distort`] make values that break a constraint. [`checker`] reads
//! a finished call without the sampler.

pub(crate) mod checker;
mod compiled;
mod distort;
mod expressions;
mod facts;
mod fit;
mod kinds;
mod meaning;
mod passing;
pub(crate) mod plan;
mod preferences;
pub(crate) mod priors;
mod sample;
mod scalars;
mod sequences;
mod shapes;
pub(crate) mod solver;
mod tensors;
mod violate;
