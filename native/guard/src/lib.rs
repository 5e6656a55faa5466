//! Text inspection of guardrails: normalization variants that undo obfuscation, and search for patterns and PII in each
//! of them, in time that is linear in the text.

pub mod bridge;
mod cards;
mod decoding;
mod emails;
mod escapes;
mod expressions;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../fuzz/text_variants.rs"]
pub mod fuzz;
mod ibans;
mod ips;
mod kinds;
mod mapped;
mod normalization;
mod patterns;
mod phones;
mod scan;
mod text_variants;
mod urls;

#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod tests;
