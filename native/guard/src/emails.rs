//! E-mail addresses, including internationalized ones (RFC 6531): a local part, `@`, and a domain whose last label
//! consists of letters or is encoded (`xn--`).

use std::ops::ControlFlow;

use memchr::memchr_iter;
use unicode_normalization::char::is_combining_mark;

use crate::kinds::{MatchSink, MergedMatches};

/// Maximum size in bytes of a quoted local part. RFC 5321 allows 64 octets; escapes need more.
const MAX_QUOTED: usize = 128;
/// Characters that are equivalent to a dot in a domain (IDNA, RFC 3490).
const IDEOGRAPHIC_DOTS: [char; 3] = ['\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// Finds an address around each `@`.
pub fn find(text: &str, sink: &mut dyn MatchSink) -> ControlFlow<()> {
    let mut merged = MergedMatches::new(sink);
    for at in memchr_iter(b'@', text.as_bytes()) {
        merged.poll()?;
        if let (Some(start), Some(length)) = (local_part(&text[..at]), domain(&text[at + 1..])) {
            merged.add(start..at + 1 + length)?;
        }
    }
    merged.end()
}

/// Start of the local part at the end of a text.
fn local_part(before: &str) -> Option<usize> {
    if before.ends_with('"') {
        return quoted(before);
    }
    let is_local = |one: char| is_word_char(one) || ".!#$%&'*+/=?^_`{|}~-".contains(one);
    let run = before.trim_end_matches(is_local).len();
    let begins = |one: char| one.is_alphanumeric() || one == '_';
    before[run..].find(begins).map(|skipped| run + skipped)
}

/// Start of a quoted local part: `"ann lee"`, or `\"ann lee\"` within a JSON string.
fn quoted(before: &str) -> Option<usize> {
    let bytes = before.as_bytes();
    let end = bytes.len() - 1;
    let is_escaped = |at: usize| {
        let slashes = bytes[..at].iter().rev().take_while(|one| **one == b'\\');
        slashes.count() % 2 == 1
    };
    let content = &bytes[end.saturating_sub(MAX_QUOTED)..end];
    let line = content
        .iter()
        .rev()
        .take_while(|one| !b"\r\n".contains(one))
        .count();
    let mut quotes = (end - line..end)
        .rev()
        .filter(|at| bytes[*at] == b'"' && at + 1 < end);
    if is_escaped(end) {
        return quotes.clone().find(|at| is_escaped(*at)).map(|at| at - 1);
    }
    // Escaped quotation marks belong to the local part.
    let opening = quotes.clone().find(|at| !is_escaped(*at));
    opening.or_else(|| quotes.next_back().map(|at| at - 1))
}

/// Length of the domain at the start of a text.
fn domain(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut end = None;
    let mut has_dot = false;
    loop {
        let label = label_at(&text[at..])?;
        if has_dot {
            end = top_level(label).map(|length| at + length).or(end);
        }
        at += label.len();
        let Some(dot) = text[at..].chars().next().filter(|one| is_dot(*one)) else {
            return end;
        };
        if label.ends_with('-') {
            return end;
        }
        let next = at + dot.len_utf8();
        let Some(following) = label_at(&text[next..]) else {
            return end;
        };
        // An ideographic full stop may also end a sentence, if text of another script follows.
        let is_sentence = dot != '.' && end.is_some() && label.is_ascii() && !following.is_ascii();
        if is_sentence {
            return end;
        }
        has_dot = true;
        at = next;
    }
}

fn is_dot(one: char) -> bool {
    one == '.' || IDEOGRAPHIC_DOTS.contains(&one)
}

/// Label at the start of a text: letters, digits, marks and dashes, starting with a letter or digit.
fn label_at(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let end = text.find(|one| !is_word_char(one) && one != '-');
    first
        .is_alphanumeric()
        .then_some(&text[..end.unwrap_or(text.len())])
}

/// Length of the part of a label that may be a top-level domain.
fn top_level(label: &str) -> Option<usize> {
    let is_encoded = label
        .get(..4)
        .is_some_and(|begin| begin.eq_ignore_ascii_case("xn--"));
    if is_encoded {
        let ascii = label.find(|one: char| !one.is_ascii_alphanumeric() && one != '-');
        let encoded = label[..ascii.unwrap_or(label.len())].trim_end_matches('-');
        return (encoded.len() > 4).then_some(encoded.len());
    }
    let letters = label.find(|one: char| !(one.is_alphabetic() || is_combining_mark(one)));
    let letters = &label[..letters.unwrap_or(label.len())];
    (letters.chars().count() >= 2).then_some(letters.len())
}

fn is_word_char(one: char) -> bool {
    one.is_alphanumeric() || is_combining_mark(one)
}
