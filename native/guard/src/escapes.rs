//! Escape sequences: HTML entities, percent-encoding of URLs, and string escapes of JSON and programming languages.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use entities::{Codepoints, ENTITIES};

use crate::mapped::{MappedChar, to_text};

/// Maximum number of unescaped texts per text.
#[cfg(any(test, feature = "fuzz"))]
pub const MAX: usize = NESTED + 6;
/// Maximum number of rounds for escapes within escapes.
const NESTED: usize = 4;
/// Maximum length in characters of an entity name, with `&` and `;`.
const MAX_NAME: usize = 33;

/// A text with escape sequences replaced.
pub struct Unescaped {
    pub text: Vec<MappedChar>,
    /// True: all escape sequences are replaced, also nested ones. False: only those of one syntax, or of fewer rounds.
    pub is_whole: bool,
}

/// Decodes the escape sequence at the start of a text. Returns the characters and the length of the sequence.
type Escape = fn(&[MappedChar]) -> Option<(Vec<MappedChar>, usize)>;

const ENTITY: (char, Escape) = ('&', entity);
/// `\100` in programming languages; not in JSON.
const OCTAL: (char, Escape) = ('\\', |text| scalar(text, 1, 8, 3..=3));
const PERCENT: (char, Escape) = ('%', percent);
const BACKSLASH: (char, Escape) = ('\\', backslash);
const PUNCTUATION: (char, Escape) = ('\\', punctuation);
/// Space in the query of a URL.
const PLUS: (char, Escape) = ('+', |text| Some((vec![(' ', text[0].1, text[0].2)], 1)));

/// Returns distinct unescaped texts that differ from `text`, the fully unescaped one first.
pub fn unescaped_texts(text: &[MappedChar]) -> Vec<Unescaped> {
    const ALL: [(char, Escape); 3] = [ENTITY, PERCENT, BACKSLASH];
    const ONE: [&[(char, Escape)]; 6] = [
        &[ENTITY],
        &[PERCENT],
        &[BACKSLASH],
        &[OCTAL, BACKSLASH],
        &[PUNCTUATION],
        &[PERCENT, PLUS],
    ];
    let Some(first) = replaced(text, &ALL) else {
        return Vec::new();
    };
    let mut rounds = vec![first];
    while let (true, Some(last)) = (rounds.len() < NESTED, rounds.last()) {
        match replaced(last, &ALL) {
            Some(further) => rounds.push(further),
            None => break,
        }
    }
    let percent = replaced(text, &[PERCENT]);
    let ones = ONE
        .iter()
        .filter(|syntax| syntax[0].0 != '%' || percent.is_some());
    let whole = rounds.pop().into_iter();
    let partly = rounds
        .into_iter()
        .chain(ones.filter_map(|syntax| replaced(text, syntax)));
    let mut known = HashSet::new();
    whole
        .map(|text| (text, true))
        .chain(partly.map(|text| (text, false)))
        .filter(|(text, _)| known.insert(to_text(text)))
        .map(|(text, is_whole)| Unescaped { text, is_whole })
        .collect()
}

/// Replaces escape sequences; None if the text contains none.
fn replaced(text: &[MappedChar], escapes: &[(char, Escape)]) -> Option<Vec<MappedChar>> {
    let mut written: Option<Vec<MappedChar>> = None;
    let mut at = 0;
    while at < text.len() {
        let mut of = escapes.iter().filter(|(first, _)| *first == text[at].0);
        match of.find_map(|(_, undo)| undo(&text[at..])) {
            Some((characters, length)) => {
                let written = written.get_or_insert_with(|| text[..at].to_vec());
                written.extend(characters);
                at += length;
            }
            None => {
                if let Some(written) = &mut written {
                    written.push(text[at]);
                }
                at += 1;
            }
        }
    }
    written
}

/// Characters that replace a whole sequence.
fn replacement(
    characters: impl IntoIterator<Item = char>,
    over: &[MappedChar],
) -> (Vec<MappedChar>, usize) {
    let (start, end) = (over[0].1, over[over.len() - 1].2);
    let mapped = characters.into_iter().map(|one| (one, start, end));
    (mapped.collect(), over.len())
}

/// Parses the digits at the start of a text. Returns the number and the count of digits.
fn number(text: &[MappedChar], radix: u32, max_digits: usize) -> Option<(u32, usize)> {
    let digits = text.iter().map_while(|one| one.0.to_digit(radix));
    let (value, count) = digits
        .take(max_digits)
        .fold((0_u32, 0), |(value, count), digit| {
            (value.saturating_mul(radix).saturating_add(digit), count + 1)
        });
    (count > 0).then_some((value, count))
}

/// `&#64;`, `&#x40;`, `&commat;`. The semicolon is optional for numbers and for some names.
fn entity(text: &[MappedChar]) -> Option<(Vec<MappedChar>, usize)> {
    static NAMES: LazyLock<HashMap<&str, &Codepoints>> = LazyLock::new(|| {
        let each = ENTITIES.iter().map(|one| (one.entity, &one.codepoints));
        each.collect()
    });
    let at = |index: usize| text.get(index).map(|one| one.0);
    if at(1) == Some('#') {
        let is_hexadecimal = matches!(at(2), Some('x' | 'X'));
        let (first, radix) = if is_hexadecimal { (3, 16) } else { (2, 10) };
        let (value, count) = number(&text[first.min(text.len())..], radix, 10)?;
        let character = char::from_u32(value).filter(|one| *one != '\0')?;
        let end = first + count;
        let end = end + usize::from(at(end) == Some(';'));
        return Some(replacement([character], &text[..end]));
    }
    let name: String = text
        .iter()
        .take(MAX_NAME)
        .enumerate()
        .map_while(|(index, one)| (index == 0 || one.0.is_ascii_alphanumeric()).then_some(one.0))
        .collect();
    let ended = (at(name.len()) == Some(';')).then(|| format!("{name};"));
    // Without a semicolon, the longest known name applies.
    let bare = (3..=name.len())
        .rev()
        .map(|length| name[..length].to_owned());
    let (length, found) = ended
        .into_iter()
        .chain(bare)
        .find_map(|name| Some((name.len(), NAMES.get(name.as_str())?)))?;
    let characters = match **found {
        Codepoints::Single(one) => vec![one],
        Codepoints::Double(one, other) => vec![one, other],
    };
    Some(replacement(
        characters.into_iter().filter_map(char::from_u32),
        &text[..length],
    ))
}

/// UTF-8 bytes of one character, `%C3%A9`, or a UTF-16 unit, `%u00e9`.
fn percent(text: &[MappedChar]) -> Option<(Vec<MappedChar>, usize)> {
    if matches!(text.get(1)?.0, 'u' | 'U') {
        return unit(text, 2, 4);
    }
    let byte = |text: &[MappedChar]| {
        let (value, count) = number(text.get(1..)?, 16, 2)?;
        (text[0].0 == '%' && count == 2).then_some(value as u8)
    };
    let first = byte(text)?;
    let length = match first {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let bytes: Option<Vec<u8>> = (0..length)
        .map(|index| byte(text.get(3 * index..)?))
        .collect();
    let bytes = bytes?;
    let read = std::str::from_utf8(&bytes).ok()?;
    Some(replacement(read.chars(), &text[..3 * length]))
}

/// Backslash escapes of JSON, programming languages and Markdown.
fn backslash(text: &[MappedChar]) -> Option<(Vec<MappedChar>, usize)> {
    let one = |character: char| Some(replacement([character], &text[..2]));
    match text.get(1)?.0 {
        'n' => one('\n'),
        'r' => one('\r'),
        't' => one('\t'),
        'b' => one('\u{8}'),
        'f' => one('\u{c}'),
        'v' => one('\u{b}'),
        'e' => one('\u{1b}'),
        'u' if text.get(2).is_some_and(|one| one.0 == '{') => {
            let (value, count) = number(&text[3..], 16, 8)?;
            let is_ended = text.get(3 + count).is_some_and(|one| one.0 == '}');
            let character = char::from_u32(value).filter(|_| is_ended)?;
            Some(replacement([character], &text[..4 + count]))
        }
        'u' => unit(text, 2, 4),
        'U' => scalar(text, 2, 16, 8..=8),
        'x' => scalar(text, 2, 16, 2..=2),
        // Line continuation.
        '\n' => Some((Vec::new(), 2)),
        _ => punctuation(text),
    }
}

/// Markdown escapes.
fn punctuation(text: &[MappedChar]) -> Option<(Vec<MappedChar>, usize)> {
    let character = text.get(1)?.0;
    let is_escapable = character.is_ascii_punctuation();
    is_escapable.then(|| replacement([character], &text[..2]))
}

/// A character by its code point, with a fixed number of digits.
fn scalar(
    text: &[MappedChar],
    first: usize,
    radix: u32,
    digits: std::ops::RangeInclusive<usize>,
) -> Option<(Vec<MappedChar>, usize)> {
    let (value, count) = number(text.get(first..)?, radix, *digits.end())?;
    let character = char::from_u32(value).filter(|_| digits.contains(&count))?;
    Some(replacement([character], &text[..first + count]))
}

/// A UTF-16 unit or a surrogate pair: `\ud83d\ude00`.
fn unit(text: &[MappedChar], first: usize, digits: usize) -> Option<(Vec<MappedChar>, usize)> {
    let read = |text: &[MappedChar]| {
        let (value, count) = number(text.get(first..)?, 16, digits)?;
        (count == digits).then_some(value as u16)
    };
    let length = first + digits;
    let high = read(text)?;
    let next = text.get(length..).unwrap_or_default();
    let begins = |at: usize| next.get(at).map(|one| one.0) == text.get(at).map(|one| one.0);
    let low = if begins(0) && begins(1) {
        read(next)
    } else {
        None
    };
    let units = [Some(high), low].into_iter().flatten();
    let character = char::decode_utf16(units).next()?.ok()?;
    Some(replacement(
        [character],
        &text[..length * character.len_utf16()],
    ))
}
