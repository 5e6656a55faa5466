//! Limits for the steps of tokenizer.json that could multiply a text's length or its processing time.
//!
//! Regular expressions may take time exponential in the text. tokenizer.json may contain any expressions, which run on
//! the text of every request. Each expression is tested on texts that are slow for such expressions, and its
//! backtracking steps are counted. The test is no proof, but it is deterministic and finds known exponential cases. It
//! does not detect quadratic loops that run from each character to the end of the text (`a*b`).

use std::collections::BTreeSet;

use onig::{MatchParam, Regex, Region, SearchOptions};
use serde_json::Value;

use errors::{Result, bail, ensure};

/// Length of a test text in characters.
const LENGTH: usize = 1000;
/// Maximum number of steps per test text. Expressions of published models take up to 20 steps per character, and some
/// more for a search without matches.
const MAX_STEPS: usize = 150 * LENGTH;
/// First step limit. It doubles until the search completes.
const MIN_STEPS: usize = 16;
/// Maximum size in bytes of the replacement of a match. A text may consist of matches.
const MAX_REPLACEMENT: usize = 256;
/// Maximum number of literals, so that testing one expression takes some ten milliseconds.
const MAX_LITERALS: usize = 16;

/// Maximum number of steps of one search at run time, for cases that the test does not find. About one second.
const MAX_STEPS_PER_SEARCH: u64 = 100_000_000;

/// Units of the test texts: letters of several cases and scripts, digits, spaces, line ends, punctuation, marks.
const USUAL: [&str; 16] = [
    "a", "A", "x", "1", " ", "\n", "\r\n", "\t", ".", "-", "_", "'", "ж", "中", "e\u{301}", "a ",
];

/// Tests the expressions of a step. `key`: "normalizer" or "pre_tokenizer" of tokenizer.json.
pub fn require_bounded_steps(key: &str, step: Option<&Value>) -> Result<()> {
    let Some(step) = step else { return Ok(()) };
    // SAFETY: sets a global number of the library, which the library reads when a search begins.
    unsafe { onig_sys::onig_set_retry_limit_in_search(MAX_STEPS_PER_SEARCH) };
    for list in ["normalizers", "pretokenizers"] {
        let nested = step[list].as_array().into_iter().flatten();
        for step in nested {
            require_bounded_steps(key, Some(step))?;
        }
    }
    let size = step["content"].as_str().map_or(0, str::len);
    ensure!(
        size <= MAX_REPLACEMENT,
        "{key}: content: has {size} bytes, expected at most {MAX_REPLACEMENT}"
    );
    let Some(source) = step["pattern"]["Regex"].as_str() else {
        return Ok(());
    };
    let Ok(regex) = Regex::new(source) else {
        return Ok(()); // the crate reports the error
    };
    if let Some(text) = texts(source).iter().find(|text| !is_quick(&regex, text)) {
        let shown: String = source.chars().take(80).collect();
        let start: String = text.chars().take(8).collect();
        bail!(
            "{key}: the regular expression {shown:?} takes more than {MAX_STEPS} steps for a text \
             of {} characters that begins with {start:?}. Requests could run without end",
            text.chars().count()
        );
    }
    Ok(())
}

/// Test texts: one unit repeated, with and without a different end.
fn texts(source: &str) -> Vec<String> {
    let is_mark = |c: char| !c.is_alphanumeric();
    let words: Vec<&str> = source
        .split(is_mark)
        .filter(|word| !word.is_empty())
        .collect();
    let first = |word: &&str| word.chars().next();
    let letters = words
        .iter()
        .filter_map(first)
        .chain(source.chars().filter(|c| is_mark(*c)));
    let literals = words.iter().map(|word| (*word).to_owned());
    let literals: BTreeSet<String> = literals.chain(letters.map(String::from)).collect();
    let literals = literals.iter().map(String::as_str).take(MAX_LITERALS * 2);
    let parts = USUAL
        .into_iter()
        .chain(literals.filter(|part| part.len() <= 16));
    let repeated = parts.map(|part| part.repeat(LENGTH.div_ceil(part.chars().count())));
    // A search skips texts that lack the last literal of its expression.
    let all = format!("!\n{}\0", words.concat());
    repeated
        .flat_map(|text| [text.clone() + &all, text.clone() + "\0", text])
        .collect()
}

/// True if finding all matches, as the crate does, takes at most `MAX_STEPS` steps.
fn is_quick(regex: &Regex, text: &str) -> bool {
    let (mut steps, mut start) = (0, 0);
    while start <= text.len() {
        let Some((taken, end)) = search(regex, text, start, MAX_STEPS - steps) else {
            return false;
        };
        steps += taken;
        if steps > MAX_STEPS {
            return false;
        }
        let Some(end) = end else { break };
        // After an empty match, the search continues after the next character.
        let next = text[start..].chars().next().map_or(1, char::len_utf8);
        start = if end > start { end } else { start + next };
    }
    true
}

/// Returns the number of steps, at most twice the actual number, and the end of the match. `None`: more than `most`
/// steps.
fn search(
    regex: &Regex,
    text: &str,
    start: usize,
    max_steps: usize,
) -> Option<(usize, Option<usize>)> {
    let mut limit = MIN_STEPS;
    while limit <= max_steps.max(MIN_STEPS) * 2 {
        let param = MatchParam::default();
        let steps = std::ffi::c_ulong::try_from(limit).ok()?;
        // SAFETY: `param` is owned by this function and outlives the call.
        unsafe {
            onig_sys::onig_set_retry_limit_in_search_of_match_param(param.as_raw(), steps);
        }
        let mut region = Region::new();
        let found = regex.search_with_param(
            text,
            start,
            text.len(),
            SearchOptions::SEARCH_OPTION_NONE,
            Some(&mut region),
            param,
        );
        if let Ok(found) = found {
            let end = found.and_then(|_| region.pos(0)).map(|(_, end)| end);
            return Some((limit, end));
        }
        limit *= 2;
    }
    None
}

#[cfg(test)]
#[path = "../../tests/unit/regex_limits.rs"]
mod tests;
