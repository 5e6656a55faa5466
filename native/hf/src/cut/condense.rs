//! BERT's tokenizer gives one unknown token for a word of more than 100 characters, however long, and
//! nothing for spaces, control characters and accents. So of long runs of such characters a part does.

use tokenizers::normalizers::BertNormalizer;
use tokenizers::{ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};
use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::UnicodeNormalization;
use unicode_normalization_alignments::char::canonical_combining_class;

use super::{Side, seam};

pub struct Condense {
    /// So many characters of a run are kept: more than a word or an added token has.
    longest: usize,
    kinds: Kinds,
}

/// One side of a text, condensed.
pub enum Edge {
    All(String),
    Part(String),
}

/// What becomes of a character, whatever stands around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One or more characters of a word.
    Letter,
    /// Nothing.
    Vanishing,
    /// Nothing, but marks before it and behind it are put in order apart from one another. The first
    /// of several does that.
    Border,
    /// The end of a word, and nothing more.
    Space,
    Other,
}

impl Condense {
    /// `None`: the tokenizer is not BERT's, or an added token could stand in such a run.
    pub fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let normalizer = tokenizer.get_normalizer();
        let (
            Some(NormalizerWrapper::BertNormalizer(bert)),
            Some(PreTokenizerWrapper::BertPreTokenizer(_)),
            ModelWrapper::WordPiece(model),
        ) = (
            normalizer,
            tokenizer.get_pre_tokenizer(),
            tokenizer.get_model(),
        )
        else {
            return None;
        };
        let kinds = Kinds::of(bert);
        let mut longest = model.max_input_chars_per_word;
        for token in tokenizer.get_added_tokens_decoder().into_values() {
            let content = seam::normalized(normalizer, &token.content)?;
            for content in [&content, &token.content] {
                let edges = content.chars().next().zip(content.chars().next_back());
                let is_fixed = |c| matches!(kinds.kind(c), Kind::Other);
                if !edges.is_none_or(|(first, last)| is_fixed(first) && is_fixed(last)) {
                    return None;
                }
                longest = longest.max(content.chars().count());
            }
        }
        Some(Self {
            longest: longest.saturating_add(1),
            kinds,
        })
    }

    /// The kept side of `text` up to `wanted` bytes, without what cannot matter.
    pub fn edge(&self, text: &str, wanted: usize, side: Side) -> Edge {
        let mut run = Run::new(self);
        match side {
            Side::Start => match run.take(text.chars(), wanted) {
                (kept, true) => Edge::All(kept.into_iter().collect()),
                (kept, false) => Edge::Part(kept.into_iter().collect()),
            },
            Side::End => match run.take(text.chars().rev(), wanted) {
                (kept, true) => Edge::All(kept.into_iter().rev().collect()),
                (kept, false) => Edge::Part(kept.into_iter().rev().collect()),
            },
        }
    }
}

struct Run<'a> {
    condense: &'a Condense,
    letters: usize,
    vanishing: usize,
    borders: usize,
    spaces: usize,
    known: [(char, Kind); 256],
}

impl<'a> Run<'a> {
    fn new(condense: &'a Condense) -> Self {
        Self {
            condense,
            letters: 0,
            vanishing: 0,
            borders: 0,
            spaces: 0,
            known: [('\0', condense.kinds.kind('\0')); 256],
        }
    }

    /// What is kept, and whether that is all.
    fn take(&mut self, chars: impl Iterator<Item = char>, wanted: usize) -> (Vec<char>, bool) {
        let mut kept = Vec::new();
        let mut size = 0;
        for c in chars {
            if size >= wanted {
                return (kept, false);
            }
            if self.keeps(c) {
                size += c.len_utf8();
                kept.push(c);
            }
        }
        (kept, true)
    }

    fn keeps(&mut self, c: char) -> bool {
        let longest = self.condense.longest;
        let known = &mut self.known[c as usize % 256];
        if known.0 != c {
            *known = (c, self.condense.kinds.kind(c));
        }
        let kind = known.1;
        if !matches!(kind, Kind::Vanishing | Kind::Border) {
            (self.vanishing, self.borders) = (0, 0);
        }
        match kind {
            Kind::Letter => {
                self.spaces = 0;
                self.letters += 1;
                self.letters <= longest
            }
            Kind::Vanishing => {
                self.vanishing += 1;
                self.vanishing <= longest && self.letters <= longest
            }
            Kind::Border => {
                self.borders += 1;
                self.borders <= longest && self.letters <= longest
            }
            Kind::Space => {
                self.letters = 0;
                self.spaces += 1;
                self.spaces <= longest
            }
            Kind::Other => {
                (self.letters, self.spaces) = (0, 0);
                true
            }
        }
    }
}

struct Kinds {
    cleans: bool,
    strips_accents: bool,
}

impl Kinds {
    fn of(bert: &BertNormalizer) -> Self {
        Self {
            cleans: bert.clean_text,
            strips_accents: bert.strip_accents.unwrap_or(bert.lowercase),
        }
    }

    fn kind(&self, c: char) -> Kind {
        match c {
            _ if c.is_ascii_alphanumeric() => Kind::Letter,
            '\t' | '\n' | '\r' => Kind::Space,
            _ if c == '\u{fffd}' || c.is_other() => {
                if self.cleans {
                    Kind::Vanishing
                } else {
                    Kind::Other
                }
            }
            _ if c.is_whitespace() => Kind::Space,
            _ if is_separate(c) => Kind::Other,
            _ if !self.strips_accents => Kind::Letter,
            _ => decomposed_kind(c),
        }
    }
}

/// Punctuation, and a generous range around the ideographs, which become words of their own.
fn is_separate(c: char) -> bool {
    c.is_ascii_punctuation()
        || c.is_punctuation()
        || matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Of a character that is decomposed and loses its accents.
fn decomposed_kind(c: char) -> Kind {
    let all = || std::iter::once(c).nfd().map(|(c, _)| c);
    if all().all(|c| c.is_mark_nonspacing()) {
        return match all().all(|c| canonical_combining_class(c) != 0) {
            true => Kind::Vanishing,
            false => Kind::Border,
        };
    }
    let is_letter = |c: char| !is_separate(c) && !c.is_whitespace() && !c.is_other();
    let mut parts = all();
    let starts = parts
        .next()
        .is_some_and(|first| is_letter(first) && canonical_combining_class(first) == 0);
    let is_word = |c: char| c.is_mark_nonspacing() || is_letter(c);
    if starts && !all().next().is_some_and(|c| c.is_mark_nonspacing()) && parts.all(is_word) {
        Kind::Letter
    } else {
        Kind::Other
    }
}
