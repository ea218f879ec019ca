//! The scan: finds inputs that make the numerics of a user's program fail, and says how to fix it.

pub mod analysis;
pub mod fix;
pub mod registry;
pub mod scan;
