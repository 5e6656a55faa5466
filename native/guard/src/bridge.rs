//! Interface of the guardrail's pattern search to C++.

use std::time::Duration;

use crate::expressions;
use crate::patterns::{self, Source};
use crate::scan::{self, Deadline, Match, MatchLimits, StopReason};
use crate::text_variants::{self, VariantOptions};
use errors::{FfiResult, catch};

#[cxx::bridge(namespace = "guard")]
mod ffi {
    /// A pattern of a guardrail policy.
    pub struct PatternSource {
        /// True: `text` names a kind of PII; false: it is a regular expression.
        is_kind: bool,
        text: String,
    }

    /// The variants to inspect, and limits. See `VariantOptions` and `MatchLimits`.
    pub struct ScanOptions {
        normalized: bool,
        decoded: bool,
        joined: bool,
        max_variants: usize,
        max_matches: usize,
        /// 0: unlimited.
        timeout_ms: f64,
    }

    /// See `text_variants::TextVariant`.
    pub struct TextVariant {
        steps: String,
        part: usize,
        /// UTF-16; empty if `steps` is empty, because the text is that of the part.
        text: Vec<u16>,
        starts: Vec<u32>,
        ends: Vec<u32>,
    }

    pub struct ScanResult {
        variants: Vec<TextVariant>,
        /// Index of the pattern, index of the variant, start and end of each match, in UTF-16 units of the variant.
        matches: Vec<u32>,
        /// Limit that ended the search: `places` (max_matches) or `time`; empty: the search is complete.
        stopped_by: String,
        /// `max_variants` was reached.
        is_truncated: bool,
    }

    pub struct FoundExpressions {
        /// Per match: pattern, start, end, ends of the first three groups, in UTF-16 units of the text; 2^32 - 1: the
        /// group is not part of the match.
        matches: Vec<u32>,
        /// Indexes of patterns whose search was ended by a limit.
        incomplete: Vec<u32>,
    }

    extern "Rust" {
        /// Compiled patterns. Const members are thread-safe.
        type Patterns;
        /// Fails with the index and the error of the first invalid pattern: `3: unclosed group`.
        fn compile_patterns(sources: Vec<PatternSource>) -> Result<Box<Patterns>>;
        fn scan(self: &Patterns, parts: Vec<String>, options: &ScanOptions) -> Result<ScanResult>;

        /// Compiled regular expressions with lookaround. Const members are thread-safe.
        type Expressions;
        /// Fails like `compile_patterns`.
        fn compile_expressions(patterns: Vec<String>) -> Result<Box<Expressions>>;
        /// Finds all matches of each expression. `timeout_ms`: 0: unlimited.
        fn find_all(
            self: &Expressions,
            text: &str,
            max_matches: usize,
            timeout_ms: f64,
        ) -> Result<FoundExpressions>;
    }
}

pub use ffi::*;

/// Patterns whose panics are errors.
pub struct Patterns(patterns::Patterns);

pub fn compile_patterns(sources: Vec<PatternSource>) -> FfiResult<Box<Patterns>> {
    catch(|| {
        let sources = sources
            .iter()
            .map(|PatternSource { is_kind, text }| match is_kind {
                true => Source::Kind(text),
                false => Source::Regex(text),
            });
        Ok(Box::new(Patterns(patterns::Patterns::compile(sources)?)))
    })
}

impl Patterns {
    pub fn scan(&self, parts: Vec<String>, options: &ScanOptions) -> FfiResult<ScanResult> {
        catch(|| {
            let deadline = deadline_of(options.timeout_ms);
            let variant_options = VariantOptions {
                normalized: options.normalized,
                decoded: options.decoded,
                joined: options.joined,
                max_variants: options.max_variants,
                deadline,
            };
            let limits = MatchLimits {
                max_matches: options.max_matches,
                deadline,
            };
            let (variants, is_complete) = text_variants::text_variants(parts, &variant_options);
            let (matches, reason) = scan::find_matches(&self.0, &variants, &limits);
            let stopped_by = match reason {
                StopReason::Completed => "",
                StopReason::MaxMatches => "matches",
                StopReason::Deadline => "time",
            };
            let numbers = |found: &Match| {
                let (pattern, variant) = (found.pattern as u32, found.variant as u32);
                [pattern, variant, found.start, found.end]
            };
            Ok(ScanResult {
                matches: matches.iter().flat_map(numbers).collect(),
                variants: variants.into_iter().map(to_ffi).collect(),
                stopped_by: stopped_by.to_owned(),
                is_truncated: !is_complete,
            })
        })
    }
}

/// Regular expressions whose panics are errors.
pub struct Expressions(expressions::Expressions);

pub fn compile_expressions(patterns: Vec<String>) -> FfiResult<Box<Expressions>> {
    catch(|| {
        let compiled = expressions::Expressions::compile(&patterns)?;
        Ok(Box::new(Expressions(compiled)))
    })
}

impl Expressions {
    pub fn find_all(
        &self,
        text: &str,
        max_matches: usize,
        timeout_ms: f64,
    ) -> FfiResult<FoundExpressions> {
        catch(|| {
            let found = self.0.find_all(text, max_matches, deadline_of(timeout_ms));
            Ok(FoundExpressions {
                matches: found.matches,
                incomplete: found.incomplete,
            })
        })
    }
}

/// 0: no deadline.
fn deadline_of(timeout_ms: f64) -> Deadline {
    match timeout_ms > 0.0 {
        true => Deadline::after(Duration::from_secs_f64((timeout_ms / 1000.0).min(1e9))),
        false => Deadline::default(),
    }
}

fn to_ffi(variant: text_variants::TextVariant) -> TextVariant {
    let text = match variant.steps.as_str() {
        "" => Vec::new(),
        _ => variant.text.encode_utf16().collect(),
    };
    TextVariant {
        steps: variant.steps,
        part: variant.part,
        text,
        starts: variant.starts,
        ends: variant.ends,
    }
}
