//! Forms in which the same text may be written: with characters that are not seen, with others that
//! mean the same (NFKC), with others that look the same. Each is None where it changes nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_security::skeleton;

use super::mapped::Mapped;

type Ranges = Vec<(char, char)>;

/// Format characters (zero-width, bidirectional, soft hyphens, tags), others that are to be ignored
/// (variation selectors, fillers), and controls but white space.
static HIDDEN: LazyLock<Ranges> =
    LazyLock::new(|| ranges_of(r"[\p{Cf}\p{Default_Ignorable_Code_Point}[\p{Cc}--\s]]"));
/// Characters that look like a space, and are none.
static BLANKS: LazyLock<Ranges> = LazyLock::new(|| {
    ranges_of(r"[\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}\u{13441}\u{13442}\u{16fe4}\u{1d159}]")
});
static PICTURES: LazyLock<Ranges> =
    LazyLock::new(|| ranges_of(r"[\p{Extended_Pictographic}\p{Emoji_Modifier}]"));
/// Each script has ten, one behind the other.
static DIGITS: LazyLock<Ranges> = LazyLock::new(|| ranges_of(r"\p{Nd}"));

/// Dashes, hyphens and minus signs.
static DASHES: LazyLock<Ranges> = LazyLock::new(|| ranges_of(r"[\p{Pd}\u{2212}\u{2043}]"));

/// Choose how a picture looks, and join pictures to one.
const OF_PICTURES: [char; 3] = ['\u{fe0e}', '\u{fe0f}', '\u{200d}'];

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

/// The range that holds a character.
fn range_in(ranges: &Ranges, character: char) -> Option<(char, char)> {
    let after = ranges.partition_point(|(first, _)| *first <= character);
    let range = *ranges.get(after.checked_sub(1)?)?;
    (character <= range.1).then_some(range)
}

pub fn is_hidden(character: char) -> bool {
    let is_in = |ranges: &Ranges| range_in(ranges, character).is_some();
    !matches!(character, ' '..='~' | '\n') && (is_in(&HIDDEN) || is_in(&BLANKS))
}

/// With spaces for characters that look like one, which `visible` leaves out.
pub fn spaced(text: &[Mapped]) -> Option<Vec<Mapped>> {
    let is_blank = |one: char| one > '~' && range_in(&BLANKS, one).is_some();
    let has_blanks = text.iter().any(|one| is_blank(one.0));
    let space = |one: &Mapped| (if is_blank(one.0) { ' ' } else { one.0 }, one.1, one.2);
    has_blanks.then(|| text.iter().map(space).collect())
}

pub fn is_dash(character: char) -> bool {
    range_in(&DASHES, character).is_some()
}

fn is_picture(character: char) -> bool {
    character > '\u{a8}' && range_in(&PICTURES, character).is_some()
}

/// Without what is not seen. What belongs to a picture is no hiding place, and stays.
pub fn visible(text: &[Mapped]) -> Option<Vec<Mapped>> {
    let mut kept = Vec::with_capacity(text.len());
    let mut is_of_picture = false;
    for one in text {
        let (character, ..) = *one;
        let belongs = is_of_picture && OF_PICTURES.contains(&character);
        if belongs || !is_hidden(character) {
            kept.push(*one);
        }
        is_of_picture = belongs || is_picture(character);
    }
    (kept.len() < text.len()).then_some(kept)
}

/// In NFKC. What is made of several characters lies where all of them do.
pub fn compatible(text: &[Mapped]) -> Option<Vec<Mapped>> {
    let characters = || text.iter().map(|(character, ..)| *character);
    if is_nfkc_quick(characters()) == IsNormalized::Yes {
        return None;
    }
    let mut normal = Vec::with_capacity(text.len());
    let mut first = 0;
    while first < text.len() {
        let next = text[first + 1..]
            .iter()
            .position(|(character, ..)| begins_anew(*character));
        let end = next.map_or(text.len(), |next| first + 1 + next);
        let segment = &text[first..end];
        let composed: Vec<char> = segment.iter().map(|(one, ..)| *one).nfkc().collect();
        let is_same = composed.iter().eq(segment.iter().map(|(one, ..)| one));
        if is_same || is_look_alike_lost(segment, &composed) {
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

/// Whether a character looks like an ASCII one, and what it is composed to does not: `latin` is to see it.
fn is_look_alike_lost(segment: &[Mapped], composed: &[char]) -> bool {
    let ([(one, ..)], [other]) = (segment, composed) else {
        return false;
    };
    !other.is_ascii() && look_alike(*one).is_some_and(|alike| look_alike(*other) != Some(alike))
}

/// Nothing before it changes with it.
fn begins_anew(character: char) -> bool {
    canonical_combining_class(character) == 0
        && is_nfkc_quick(std::iter::once(character)) != IsNormalized::Maybe
}

/// What looks like Latin letters is, and digits of other scripts are 0 to 9: in words that have Latin
/// letters, or look as if all of them were.
pub fn latin(text: &[Mapped]) -> Option<Vec<Mapped>> {
    if text.iter().all(|(character, ..)| character.is_ascii()) {
        return None;
    }
    let mut known: HashMap<char, Option<String>> = HashMap::new();
    let mut folded = Vec::with_capacity(text.len());
    let mut is_changed = false;
    for word in text.chunk_by(|(a, ..), (b, ..)| is_of_word(*a) == is_of_word(*b)) {
        let is_ascii = word.iter().all(|(one, ..)| one.is_ascii());
        if is_ascii || !is_of_word(word[0].0) {
            folded.extend_from_slice(word);
            continue;
        }
        let mut of = |one: char| known.entry(one).or_insert_with(|| look_alike(one)).clone();
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
    is_changed |= with_dots(&mut folded);
    is_changed.then_some(folded)
}

/// An ideographic full stop between ASCII letters or digits is a dot, as in the name of a host (IDNA).
fn with_dots(text: &mut [Mapped]) -> bool {
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

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character)
}

/// In ASCII; None: it is ASCII, or looks like nothing there.
fn look_alike(character: char) -> Option<String> {
    if character.is_ascii() {
        return None;
    }
    if let Some((zero, _)) = range_in(&DIGITS, character) {
        let digit = (character as u32 - zero as u32) % 10;
        return char::from_digit(digit, 10).map(String::from);
    }
    let mut buffer = [0; 4];
    let alike: String = skeleton(character.encode_utf8(&mut buffer)).collect();
    // The skeleton does not tell a capital I from l.
    let is_capital = character.is_uppercase() && alike == "l";
    let is_word = !alike.is_empty() && alike.bytes().all(|one| one.is_ascii_alphanumeric());
    is_word.then(|| if is_capital { "I".to_owned() } else { alike })
}
