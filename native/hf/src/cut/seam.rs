//! Where a text can be cut so that what the normalizer and the added tokens make of each part is what
//! they make of it in the whole text.

use std::collections::HashSet;

use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::{NormalizedString, Normalizer, NormalizerWrapper, Tokenizer};
use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::Side;

/// Two characters before a cut and two behind it. The outer ones make sure that nothing else has a
/// part in what becomes of the inner ones.
type Around<T> = [T; 4];

pub struct Seams {
    steps: Vec<Step>,
    /// Neighbours within added tokens that are matched before normalization.
    raw_pairs: HashSet<(char, char)>,
    /// All but the first characters of added tokens that are matched after it.
    normalized_tails: HashSet<char>,
    /// One of the latter takes the spaces beside it.
    normalized_strips: bool,
}

/// A part of the normalizer, and what it could see across a cut.
enum Step {
    /// It looks at single characters, or is one of Unicode's normalization forms.
    Plain(NormalizerWrapper),
    /// It looks at grapheme clusters.
    Graphemes(NormalizerWrapper),
    /// Replaces a text with these characters.
    Text(NormalizerWrapper, String),
    /// Replaces runs of white space.
    Spaces(NormalizerWrapper),
    /// Removes white space from the ends.
    Strip,
}

/// Regular expressions that match nothing but white space.
const SPACES: [&str; 4] = [r"\s{2,}|[\n\r\t]", r"\s+", r"\s{2,}", " {2,}"];

impl Seams {
    /// `None`: something may look across any cut.
    pub fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let normalizer = tokenizer.get_normalizer();
        let mut seams = Self {
            steps: steps(normalizer)?,
            raw_pairs: HashSet::new(),
            normalized_tails: HashSet::new(),
            normalized_strips: false,
        };
        for token in tokenizer.get_added_tokens_decoder().into_values() {
            if token.single_word {
                return None;
            }
            if token.normalized {
                let content = normalized(normalizer, &token.content)?;
                seams.normalized_tails.extend(content.chars().skip(1));
                seams.normalized_strips |= token.lstrip || token.rstrip;
            } else {
                let tail = token.content.chars().skip(1);
                seams.raw_pairs.extend(token.content.chars().zip(tail));
            }
        }
        Some(seams)
    }

    /// `part` of a longer text, cut to end at a seam on the side that is not kept. The seam is looked
    /// for in that half of it.
    pub fn cut<'a>(&self, part: &'a str, side: Side) -> Option<&'a str> {
        let middle = part.len() / 2;
        let indices = part.char_indices();
        match side {
            Side::Start => {
                let end: Vec<_> = indices.rev().take_while(|(at, _)| *at > middle).collect();
                let around = |four: &[(usize, char)]| [four[3].1, four[2].1, four[1].1, four[0].1];
                let seam = end.windows(4).find(|four| self.holds(around(four), side))?;
                Some(&part[..seam[1].0])
            }
            Side::End => {
                let start: Vec<_> = indices.take_while(|(at, _)| *at < middle).collect();
                let around = |four: &[(usize, char)]| [four[0].1, four[1].1, four[2].1, four[3].1];
                let seam = start
                    .windows(4)
                    .find(|four| self.holds(around(four), side))?;
                Some(&part[seam[2].0..])
            }
        }
    }

    /// Whether there is a seam in the middle.
    fn holds(&self, around: Around<char>, side: Side) -> bool {
        let [_, left, right, _] = around;
        // Spaces at the end of the kept part could be another token's, or be stripped.
        let edge = if side == Side::Start { left } else { right };
        if edge.is_whitespace() || self.raw_pairs.contains(&(left, right)) {
            return false;
        }
        if !self.steps.is_empty() && !around.into_iter().all(stays_apart) {
            return false;
        }
        let Some([_, left, right, _]) = self.normalized(around, side) else {
            return false;
        };
        let edge = match side {
            Side::Start => left.chars().next_back(),
            Side::End => right.chars().next(),
        };
        let mut first = right.chars().take(1);
        let is_within = first.any(|first| self.normalized_tails.contains(&first));
        let is_taken = self.normalized_strips && edge.is_none_or(char::is_whitespace);
        !is_within && !is_taken
    }

    /// The characters as each becomes alone. `None`: something looks across the cut.
    fn normalized(&self, around: Around<char>, side: Side) -> Option<Around<String>> {
        let mut around = around.map(String::from);
        for step in &self.steps {
            let left = around[1].chars().next_back()?;
            let right = around[2].chars().next()?;
            let edge = if side == Side::Start { left } else { right };
            let (normalizer, is_apart) = match step {
                Step::Plain(normalizer) => (normalizer, true),
                Step::Graphemes(normalizer) => (normalizer, are_graphemes(&around)),
                Step::Text(normalizer, text) => {
                    let is_apart = !text.contains(left) && !text.contains(right);
                    (normalizer, is_apart)
                }
                Step::Spaces(normalizer) => {
                    let is_apart = !(left.is_whitespace() && right.is_whitespace());
                    (normalizer, is_apart)
                }
                Step::Strip if edge.is_whitespace() => return None,
                Step::Strip => continue,
            };
            if !is_apart {
                return None;
            }
            for text in &mut around {
                *text = normalized(Some(normalizer), text)?;
            }
        }
        Some(around)
    }
}

fn steps(normalizer: Option<&NormalizerWrapper>) -> Option<Vec<Step>> {
    use NormalizerWrapper as N;
    let mut waiting: Vec<&N> = normalizer.into_iter().collect();
    let mut steps = Vec::new();
    while let Some(next) = waiting.pop() {
        steps.push(match next {
            N::Sequence(sequence) => {
                waiting.extend(sequence.as_ref().iter().rev());
                continue;
            }
            N::NFC(_) | N::NFD(_) | N::NFKC(_) | N::NFKD(_) => Step::Plain(next.clone()),
            N::StripAccents(_) | N::Lowercase(_) | N::Nmt(_) => Step::Plain(next.clone()),
            // It removes and adds characters, which the steps after it would see.
            N::BertNormalizer(_) if steps.is_empty() && waiting.is_empty() => {
                Step::Plain(next.clone())
            }
            N::Precompiled(_) => Step::Graphemes(next.clone()),
            N::Replace(replace) => {
                let is_simple = |c: char| c.is_ascii() || c == '▁';
                if replace.content.is_empty() || !replace.content.chars().all(is_simple) {
                    return None;
                }
                match pattern(next)? {
                    ReplacePattern::String(text) if text.chars().count() == 1 => {
                        Step::Plain(next.clone())
                    }
                    ReplacePattern::String(text) => Step::Text(next.clone(), text),
                    ReplacePattern::Regex(regex) if SPACES.contains(&regex.as_str()) => {
                        Step::Spaces(next.clone())
                    }
                    ReplacePattern::Regex(_) => return None,
                }
            }
            N::StripNormalizer(_) => Step::Strip,
            N::BertNormalizer(_) | N::Prepend(_) | N::ByteLevel(_) => return None,
        });
    }
    Some(steps)
}

/// The crate keeps it to itself, but for saving.
fn pattern(replace: &NormalizerWrapper) -> Option<ReplacePattern> {
    let mut value = serde_json::to_value(replace).ok()?;
    serde_json::from_value(value["pattern"].take()).ok()
}

pub fn normalized(normalizer: Option<&NormalizerWrapper>, text: &str) -> Option<String> {
    let mut result = NormalizedString::from(text);
    if let Some(normalizer) = normalizer {
        normalizer.normalize(&mut result).ok()?;
    }
    Some(result.get().to_owned())
}

/// A character that all of Unicode's normalization forms leave apart from what stands around it: it
/// starts a sequence, never composes with what comes before, and is not replaced by others.
fn stays_apart(c: char) -> bool {
    if matches!(c, ' ' | '\n') || c.is_ascii_graphic() {
        return true;
    }
    let is_jamo =
        matches!(c, '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}');
    if c.is_whitespace() || c.is_other() || is_mark(c) || is_jamo {
        return false;
    }
    let mut composed = std::iter::once(c).nfkc().map(|(c, _)| c);
    let mut decomposed = std::iter::once(c).nfkd().map(|(c, _)| c);
    let is_stable = composed.next() == Some(c) && composed.next().is_none();
    is_stable && !decomposed.next().is_none_or(is_mark)
}

fn is_mark(c: char) -> bool {
    c.is_mark() || unicode_normalization_alignments::char::is_combining_mark(c)
}

/// Regional indicators aside, which pair up from the start of their run and so never count as
/// separate here, whether two clusters are separate is seen from the characters at their border: no
/// character here is a mark or a joiner.
fn are_graphemes(around: &Around<String>) -> bool {
    around.windows(2).all(|pair| {
        let (Some(left), Some(right)) = (pair[0].chars().next_back(), pair[1].chars().next())
        else {
            return false;
        };
        [left, right]
            .iter()
            .collect::<String>()
            .graphemes(true)
            .count()
            == 2
    })
}
