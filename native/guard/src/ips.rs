//! IP addresses: IPv4 (four decimal numbers) and IPv6 (RFC 4291), unless they are part of a longer identifier.

use std::ops::{ControlFlow, Range};

use crate::kinds::{MatchSink, MergedMatches};

/// Number of groups of an IPv6 address.
const GROUPS: usize = 8;
/// Maximum number of hexadecimal digits of a group.
const MAX_GAP: usize = 4;

/// Searches runs of hexadecimal digits, colons and dots.
pub fn find(text: &str, sink: &mut dyn MatchSink) -> ControlFlow<()> {
    let bytes = text.as_bytes();
    let mut merged = MergedMatches::new(sink);
    let mut searched = 0;
    while let Some(hit) = memchr::memchr2(b'.', b':', &bytes[searched..]) {
        merged.poll()?;
        let hit = searched + hit;
        let before = bytes[searched..hit].iter().rev();
        let start = hit - before.take_while(|one| one.is_ascii_hexdigit()).count();
        let length = bytes[hit..]
            .iter()
            .take_while(|one| is_of_run(**one))
            .count();
        let run = start..hit + length;
        find_in(text, run.clone(), &mut merged)?;
        searched = run.end;
    }
    merged.end()
}

fn is_of_run(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte == b':' || byte == b'.'
}

fn find_in(text: &str, run: Range<usize>, merged: &mut MergedMatches) -> ControlFlow<()> {
    let bytes = text.as_bytes();
    let has = |what: &[u8]| {
        bytes[run.clone()]
            .windows(what.len())
            .any(|one| one == what)
    };
    let colons = bytes[run.clone()]
        .iter()
        .filter(|one| **one == b':')
        .count();
    let may_be_ipv6 = colons >= 7 || (colons >= 2 && has(b"::")) || (colons >= 6 && has(b"."));
    let is_long = colons >= GROUPS;
    for at in run.clone() {
        if at % 4096 == 0 {
            merged.poll()?;
        }
        let begins = at == run.start || !bytes[at - 1].is_ascii_hexdigit();
        if bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit()) {
            if let Some(end) = ipv4_at(bytes, at) {
                merged.add(at..end)?;
            }
        }
        let may_begin = bytes[at] == b':' || begins;
        if may_be_ipv6 && may_begin {
            if let Some(end) = ipv6_at(&bytes[..run.end], at) {
                if is_address(bytes, at..end, is_long) {
                    merged.add(at..end)?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// End of the IPv4 address that starts at `start`. Five numbers of the range 0 to 255 with dots between them are a
/// version or an identifier, and contain no address. Other numbers next to an address are a year or a port.
fn ipv4_at(bytes: &[u8], start: usize) -> Option<usize> {
    if start >= 2 && bytes[start - 1] == b'.' && ends_with_octet(&bytes[..start - 1]) {
        return None;
    }
    let mut at = start;
    for number in 0..4 {
        if number > 0 {
            at += 1;
        }
        at += octet_at(bytes, at)?;
        if number < 3 && bytes.get(at) != Some(&b'.') {
            return None;
        }
    }
    let goes_on = bytes.get(at) == Some(&b'.') && octet_at(bytes, at + 1).is_some();
    (!goes_on).then_some(at)
}

fn ends_with_octet(bytes: &[u8]) -> bool {
    let digits = bytes
        .iter()
        .rev()
        .take(4)
        .take_while(|one| one.is_ascii_digit());
    let count = digits.count();
    (1..=3).contains(&count) && octet_at(bytes, bytes.len() - count).is_some()
}

/// Length of a number from 0 to 255 without leading zeros.
fn octet_at(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = bytes
        .get(start..)?
        .iter()
        .take(4)
        .take_while(|one| one.is_ascii_digit());
    let count = digits.count();
    let number = &bytes[start..start + count];
    let value = number
        .iter()
        .fold(0_u32, |value, digit| 10 * value + u32::from(digit - b'0'));
    let is_octet = (1..=3).contains(&count) && value <= 255 && (count == 1 || number[0] != b'0');
    is_octet.then_some(count)
}

/// End of the longest IPv6 address that starts at `start`.
fn ipv6_at(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut count = 0;
    let mut is_compressed = bytes[at..].starts_with(b"::");
    let mut end = None;
    if is_compressed {
        at += 2;
        end = Some(at);
    }
    loop {
        let digits = bytes[at..].iter().take(MAX_GAP + 1);
        let length = digits.take_while(|one| one.is_ascii_hexdigit()).count();
        if length == 0 || length > MAX_GAP {
            return end;
        }
        if let (Some(last), true) = (ipv4_at(bytes, at), count > 0 || is_compressed) {
            let is_whole = if is_compressed {
                count + 2 < GROUPS
            } else {
                count + 2 == GROUPS
            };
            if is_whole {
                return Some(last);
            }
        }
        count += 1;
        at += length;
        if is_compressed && count == GROUPS {
            return end;
        }
        if is_compressed || count == GROUPS {
            end = Some(at);
        }
        if count == GROUPS {
            return end;
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"::") {
            if is_compressed {
                return end;
            }
            is_compressed = true;
            at += 2;
            end = Some(at);
        } else if rest.starts_with(b":") {
            at += 1;
        } else {
            return end;
        }
    }
}

/// True if a syntactically valid IPv6 address is an address in its context. Program identifiers (`std::dead::beef`),
/// style sheets and fingerprints have the same syntax.
fn is_address(bytes: &[u8], range: Range<usize>, is_long: bool) -> bool {
    let address = &bytes[range.clone()];
    let is_word =
        |one: Option<&u8>| one.is_some_and(|one| one.is_ascii_alphanumeric() || *one == b'_');
    let before = range.start.checked_sub(1).map(|at| &bytes[at]);
    let is_word_behind = is_word(bytes.get(range.end));
    if address.len() < 3 {
        return false;
    }
    let compressed = address.windows(2).position(|two| two == b"::");
    let Some(compressed) = compressed else {
        // More groups, of two digits each, are a fingerprint.
        let is_fingerprint = is_long && address.split(|one| *one == b':').all(|one| one.len() == 2);
        return !is_fingerprint;
    };
    let goes_on = is_word_behind || bytes[range.end..].starts_with(b"::");
    let stands_alone = !is_word(before) && before != Some(&b':') && !goes_on;
    if stands_alone {
        return true;
    }
    if address.ends_with(b"::") && is_word_behind {
        return false;
    }
    let (first, second) = (&address[..compressed], &address[compressed + 2..]);
    let has_digit = |part: &[u8]| part.iter().any(u8::is_ascii_digit);
    if first.contains(&b':') || second.iter().any(|one| b":.".contains(one)) {
        return has_digit(address);
    }
    // With one group on each side of `::`: an identifier does not start with a digit, and the first group of an
    // assigned address has four digits or none.
    let begins_with_digit = |part: &[u8]| part.first().is_some_and(u8::is_ascii_digit);
    let is_of_name = is_word(before) && !first.is_empty();
    (!is_of_name && (begins_with_digit(first) || begins_with_digit(second)))
        || (first.len() == MAX_GAP && has_digit(first))
}
