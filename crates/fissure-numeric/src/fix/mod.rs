//! Stable rewrites as text edits.
