//! Normalization forms: without invisible characters, in NFKC, and with Latin letters instead of confusable characters.
//! Each function returns None if it does not change the text.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_security::skeleton;

use crate::mapped::MappedChar;

type Ranges = Vec<(char, char)>;

/// Format characters (zero-width, bidirectional, soft hyphens, tags), default-ignorable characters (variation
/// selectors, fillers), and control characters except white space.
static INVISIBLE: LazyLock<Ranges> =
    LazyLock::new(|| ranges_of(r"[\p{Cf}\p{Default_Ignorable_Code_Point}[\p{Cc}--\s]]"));
/// Characters that look like a space, but are not white space.
static BLANKS: LazyLock<Ranges> = LazyLock::new(|| {
    ranges_of(r"[\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}\u{13441}\u{13442}\u{16fe4}\u{1d159}]")
});
static EMOJI: LazyLock<Ranges> =
    LazyLock::new(|| ranges_of(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}]"));
/// Decimal digits: ten consecutive characters per script.
static DIGITS: LazyLock<Ranges> = LazyLock::new(|| ranges_of(r"\p{Nd}"));

/// Dashes, hyphens and minus signs.
static DASHES: LazyLock<Ranges> = LazyLock::new(|| ranges_of(r"[\p{Pd}\u{2212}\u{2043}]"));

/// Variation selectors and the zero-width joiner, which are part of emoji sequences.
const EMOJI_JOINERS: [char; 3] = ['\u{fe0e}', '\u{fe0f}', '\u{200d}'];

fn ranges_of(class: &str) -> Ranges {
    let parsed = regex_syntax::parse(class).expect("is a class");
    let HirKind::Class(Class::Unicode(class)) = parsed.into_kind() else {
        unreachable!("is a class of characters")
    };
    class
        .iter()
        .map(|range| (range.start(), range.end()))
        .collect()
}

/// Returns the range that contains a character.
fn range_in(ranges: &Ranges, character: char) -> Option<(char, char)> {
    let after = ranges.partition_point(|(first, _)| *first <= character);
    let range = *ranges.get(after.checked_sub(1)?)?;
    (character <= range.1).then_some(range)
}

pub fn is_invisible(character: char) -> bool {
    let is_in = |ranges: &Ranges| range_in(ranges, character).is_some();
    !matches!(character, ' '..='~' | '\n') && (is_in(&INVISIBLE) || is_in(&BLANKS))
}

/// Replaces characters that look like a space by a space. `strip_invisible` removes them.
pub fn blanks_to_spaces(text: &[MappedChar]) -> Option<Vec<MappedChar>> {
    let is_blank = |one: char| one > '~' && range_in(&BLANKS, one).is_some();
    let has_blanks = text.iter().any(|one| is_blank(one.0));
    let space = |one: &MappedChar| (if is_blank(one.0) { ' ' } else { one.0 }, one.1, one.2);
    has_blanks.then(|| text.iter().map(space).collect())
}

pub fn is_dash(character: char) -> bool {
    range_in(&DASHES, character).is_some()
}

fn is_emoji(character: char) -> bool {
    character > '\u{a8}' && range_in(&EMOJI, character).is_some()
}

/// Removes invisible characters, except within emoji sequences.
pub fn strip_invisible(text: &[MappedChar]) -> Option<Vec<MappedChar>> {
    let mut kept = Vec::with_capacity(text.len());
    let mut follows_emoji = false;
    for one in text {
        let (character, ..) = *one;
        let belongs = follows_emoji && EMOJI_JOINERS.contains(&character);
        if belongs || !is_invisible(character) {
            kept.push(*one);
        }
        follows_emoji = belongs || is_emoji(character);
    }
    (kept.len() < text.len()).then_some(kept)
}

/// Converts to NFKC. A composed character has the source range of all its components.
pub fn nfkc(text: &[MappedChar]) -> Option<Vec<MappedChar>> {
    let characters = || text.iter().map(|(character, ..)| *character);
    if is_nfkc_quick(characters()) == IsNormalized::Yes {
        return None;
    }
    let mut normal = Vec::with_capacity(text.len());
    let mut first = 0;
    while first < text.len() {
        let next = text[first + 1..]
            .iter()
            .position(|(character, ..)| starts_segment(*character));
        let end = next.map_or(text.len(), |next| first + 1 + next);
        let segment = &text[first..end];
        let composed: Vec<char> = segment.iter().map(|(one, ..)| *one).nfkc().collect();
        let is_same = composed.iter().eq(segment.iter().map(|(one, ..)| one));
        if is_same || loses_confusable(segment, &composed) {
            normal.extend_from_slice(segment);
        } else {
            let (start, end) = (segment[0].1, segment[segment.len() - 1].2);
            normal.extend(composed.into_iter().map(|one| (one, start, end)));
        }
        first = end;
    }
    let is_same =
        normal.len() == text.len() && characters().eq(normal.iter().map(|(one, ..)| *one));
    (!is_same).then_some(normal)
}

/// True if a character looks like an ASCII character, but its composition does not. `fold_confusables` needs the
/// original character.
fn loses_confusable(segment: &[MappedChar], composed: &[char]) -> bool {
    let ([(one, ..)], [other]) = (segment, composed) else {
        return false;
    };
    !other.is_ascii() && confusable(*one).is_some_and(|alike| confusable(*other) != Some(alike))
}

/// True if a character does not compose with preceding characters.
fn starts_segment(character: char) -> bool {
    canonical_combining_class(character) == 0
        && is_nfkc_quick(std::iter::once(character)) != IsNormalized::Maybe
}

/// Replaces confusable characters by Latin letters, and digits of other scripts by 0 to 9. Only changes words that
/// contain Latin letters, or consist only of confusable characters.
pub fn fold_confusables(text: &[MappedChar]) -> Option<Vec<MappedChar>> {
    if text.iter().all(|(character, ..)| character.is_ascii()) {
        return None;
    }
    let mut known: HashMap<char, Option<String>> = HashMap::new();
    let mut folded = Vec::with_capacity(text.len());
    let mut is_changed = false;
    for word in text.chunk_by(|(a, ..), (b, ..)| is_word_char(*a) == is_word_char(*b)) {
        let is_ascii = word.iter().all(|(one, ..)| one.is_ascii());
        if is_ascii || !is_word_char(word[0].0) {
            folded.extend_from_slice(word);
            continue;
        }
        let mut of = |one: char| known.entry(one).or_insert_with(|| confusable(one)).clone();
        let is_latin = word.iter().any(|(one, ..)| one.is_ascii_alphabetic());
        let is_all = word
            .iter()
            .all(|(one, ..)| one.is_ascii() || of(*one).is_some());
        for (one, start, end) in word {
            let is_digit = one.is_numeric();
            match of(*one) {
                Some(alike) if is_latin || is_all || is_digit => {
                    is_changed = true;
                    folded.extend(alike.chars().map(|one| (one, *start, *end)));
                }
                _ => folded.push((*one, *start, *end)),
            }
        }
    }
    is_changed |= replace_ideographic_dots(&mut folded);
    is_changed.then_some(folded)
}

/// Replaces an ideographic full stop between ASCII letters or digits by a dot, as in host names (IDNA).
fn replace_ideographic_dots(text: &mut [MappedChar]) -> bool {
    let mut is_changed = false;
    for at in 1..text.len().saturating_sub(1) {
        let is_between = [at - 1, at + 1].map(|at| text[at].0.is_ascii_alphanumeric()) == [true; 2];
        if text[at].0 == '\u{3002}' && is_between {
            text[at].0 = '.';
            is_changed = true;
        }
    }
    is_changed
}

fn is_word_char(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character)
}

/// ASCII characters that look like a character; None for ASCII and for characters without such a look-alike.
fn confusable(character: char) -> Option<String> {
    if character.is_ascii() {
        return None;
    }
    if let Some((zero, _)) = range_in(&DIGITS, character) {
        let digit = (character as u32 - zero as u32) % 10;
        return char::from_digit(digit, 10).map(String::from);
    }
    let mut buffer = [0; 4];
    let alike: String = skeleton(character.encode_utf8(&mut buffer)).collect();
    // The Unicode skeleton maps both capital I and l to l.
    let is_capital = character.is_uppercase() && alike == "l";
    let is_word = !alike.is_empty() && alike.bytes().all(|one| one.is_ascii_alphanumeric());
    is_word.then(|| if is_capital { "I".to_owned() } else { alike })
}
