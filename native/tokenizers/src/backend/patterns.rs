//! Steps of tokenizer.json that make more of a text than it is: of its length, or of the time for it.
//!
//! Regular expressions may take far more time than their texts have characters.
//! tokenizer.json may bring expressions of its own, which every request runs on its text. Here each is
//! tried on texts that such expressions are slow on, and its steps are counted: those that go back and
//! try again. A trial is no proof, but it needs no clock, and finds what is known to explode. It does
//! not see loops that run to the end of a text from each character of it (`a*b`).

use std::collections::BTreeSet;

use onig::{MatchParam, Regex, Region, SearchOptions};
use serde_json::Value;

use crate::error::{Result, bail, ensure};

/// Characters of a text to try.
const LENGTH: usize = 1000;
/// Expressions of models take up to 20 for a character, and looking for a match of none some more.
const MOST_STEPS: usize = 150 * LENGTH;
/// Steps are counted by limits that are doubled from here on.
const FEWEST_STEPS: usize = 16;
/// What a match is replaced with, in bytes: a text may consist of matches.
const LONGEST_REPLACEMENT: usize = 256;
/// So that those of one expression are tried in some ten milliseconds.
const MOST_LITERALS: usize = 16;

/// For what a trial has not found: the steps that one search may take. About a second.
const MOST_STEPS_OF_A_SEARCH: u64 = 100_000_000;

/// What texts are made of: letters of several cases and scripts, digits, spaces, ends of lines,
/// punctuation, marks.
const USUAL: [&str; 16] = [
    "a", "A", "x", "1", " ", "\n", "\r\n", "\t", ".", "-", "_", "'", "ж", "中", "e\u{301}", "a ",
];

/// `key`: "normalizer" or "pre_tokenizer" of tokenizer.json, and what stands there.
pub fn require_quick(key: &str, step: Option<&Value>) -> Result<()> {
    let Some(step) = step else { return Ok(()) };
    // SAFETY: it sets a number of the library's, which is read when a search begins.
    unsafe { onig_sys::onig_set_retry_limit_in_search(MOST_STEPS_OF_A_SEARCH) };
    for list in ["normalizers", "pretokenizers"] {
        let nested = step[list].as_array().into_iter().flatten();
        for step in nested {
            require_quick(key, Some(step))?;
        }
    }
    let size = step["content"].as_str().map_or(0, str::len);
    ensure!(
        size <= LONGEST_REPLACEMENT,
        "{key}: content: has {size} bytes, expected at most {LONGEST_REPLACEMENT}"
    );
    let Some(source) = step["pattern"]["Regex"].as_str() else {
        return Ok(());
    };
    let Ok(regex) = Regex::new(source) else {
        return Ok(()); // its reader says what is wrong
    };
    if let Some(text) = texts(source).iter().find(|text| !is_quick(&regex, text)) {
        let shown: String = source.chars().take(80).collect();
        let start: String = text.chars().take(8).collect();
        bail!(
            "{key}: the regular expression {shown:?} takes more than {MOST_STEPS} steps for a text \
             of {} characters that begins with {start:?}: a request could take for ever",
            text.chars().count()
        );
    }
    Ok(())
}

/// Of one thing again and again, and with an end that is something else.
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
    let literals = literals.iter().map(String::as_str).take(MOST_LITERALS * 2);
    let parts = USUAL
        .into_iter()
        .chain(literals.filter(|part| part.len() <= 16));
    let repeated = parts.map(|part| part.repeat(LENGTH.div_ceil(part.chars().count())));
    // Expressions are not tried on texts that lack what they end with.
    let all = format!("!\n{}\0", words.concat());
    repeated
        .flat_map(|text| [text.clone() + &all, text.clone() + "\0", text])
        .collect()
}

/// As the crate goes through a text: one match after the other.
fn is_quick(regex: &Regex, text: &str) -> bool {
    let (mut steps, mut start) = (0, 0);
    while start <= text.len() {
        let Some((taken, end)) = search(regex, text, start, MOST_STEPS - steps) else {
            return false;
        };
        steps += taken;
        if steps > MOST_STEPS {
            return false;
        }
        let Some(end) = end else { break };
        // After a match of nothing goes on behind the next character.
        let next = text[start..].chars().next().map_or(1, char::len_utf8);
        start = if end > start { end } else { start + next };
    }
    true
}

/// The steps, at most twice as many as it took, and where the match ends; `None`: more than `most`.
fn search(regex: &Regex, text: &str, start: usize, most: usize) -> Option<(usize, Option<usize>)> {
    let mut limit = FEWEST_STEPS;
    while limit <= most.max(FEWEST_STEPS) * 2 {
        let param = MatchParam::default();
        let steps = std::ffi::c_ulong::try_from(limit).ok()?;
        // SAFETY: it is this parameter's own, and lives.
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
#[path = "../../tests/unit/patterns.rs"]
mod tests;
