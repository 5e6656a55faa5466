//! Kinds of personal data whose form, or whose checksum, says what they are.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::{cards, ibans};

/// Of a candidate: the whole text, and where it lies.
type Judge = fn(&str, Range<usize>) -> Vec<Range<usize>>;

pub struct Kind {
    pub name: &'static str,
    /// What may be one, longest runs; `judge` says what of it is.
    pub candidate: &'static str,
    pub judge: Judge,
}

pub const KINDS: [Kind; 6] = [
    Kind {
        name: "email",
        candidate: r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]*@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}]{2,}",
        judge: |_, candidate| vec![candidate],
    },
    Kind {
        name: "card",
        candidate: cards::CANDIDATE,
        judge: |text, candidate| within(cards::find, text, &candidate),
    },
    Kind {
        name: "iban",
        candidate: ibans::CANDIDATE,
        judge: |text, candidate| within(ibans::find, text, &candidate),
    },
    Kind {
        name: "ip",
        candidate: r"[0-9A-Fa-f:.]{3,}",
        judge: ip_address,
    },
    Kind {
        name: "phone",
        candidate: r"\+[\s\p{Pd}.(]?[1-9](?:[\s\p{Pd}.()/]{0,2}[0-9]){6,}",
        judge: |text, candidate| {
            let digits = text[candidate.clone()].bytes().filter(u8::is_ascii_digit);
            let is_number = (7..=15).contains(&digits.count()); // ITU-T E.164
            is_number.then_some(candidate).into_iter().collect()
        },
    },
    Kind {
        name: "url",
        candidate: r#"(?i)https?://[^\s<>"]+"#,
        judge: |text, Range { start, end }| {
            let kept = text[start..end].trim_end_matches(|last| ".,;:!?)]}'*".contains(last));
            Some(start..start + kept.len()).into_iter().collect()
        },
    },
];

fn within(
    find: fn(&str) -> Vec<Range<usize>>,
    text: &str,
    candidate: &Range<usize>,
) -> Vec<Range<usize>> {
    let found = find(&text[candidate.clone()]).into_iter();
    found
        .map(|range| candidate.start + range.start..candidate.start + range.end)
        .collect()
}

/// One that stands alone: `std::d::e` is none, nor is a part of a word.
fn ip_address(text: &str, candidate: Range<usize>) -> Vec<Range<usize>> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    if text[..candidate.start].ends_with(is_word) || text[candidate.end..].starts_with(is_word) {
        return Vec::new();
    }
    let run = &text[candidate.clone()];
    let mut kept = run.trim_end_matches('.');
    if kept.ends_with(':') && !kept.ends_with("::") {
        kept = &kept[..kept.len() - 1];
    }
    if let (Some((address, _)), true) = (kept.split_once(':'), kept.contains('.')) {
        if address.parse::<Ipv4Addr>().is_ok() {
            kept = address; // a port follows
        }
    }
    let is_address = kept.parse::<Ipv4Addr>().is_ok() || kept.parse::<Ipv6Addr>().is_ok();
    let found = candidate.start..candidate.start + kept.len();
    (is_address && kept.len() > 2)
        .then_some(found)
        .into_iter()
        .collect()
}
