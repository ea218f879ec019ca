//! Findings from verdicts, through the public interface.

mod aliases;
mod common;
mod confirming;
mod docter_records;
mod folders;
mod known_issues;
mod libraries;
mod planted_signatures;
mod round_trip;
mod scripts;
mod shrinking;
mod shrinking_documentation;
