//! Where the tokens of texts are in them: for tasks that answer for each token.

use std::ops::Range;

use tokenizers::{Decoder, Encoding, ModelWrapper, PostProcessor};

use super::{ContentOptions, Input, Side, Tokenizer};
use crate::backend::{Part, Template};
pub use crate::bridge::Located;
use crate::error::{At, Result, TooLong};

impl Tokenizer {
    /// As `encode`, with the places of the tokens.
    ///
    /// `windows`: the whole text in overlapping windows of `max_length` (`return_overflowing_tokens` of
    /// transformers) instead of the part that fits.
    pub fn locate<'a>(
        &self,
        input: impl Into<Input<'a>>,
        windows: Option<Windows>,
    ) -> Result<Located> {
        let input = input.into().without_empty_pair();
        let (template, room) = self.template(&input)?;
        let side = input.kept.unwrap_or(self.kept);
        let needed = match windows {
            Some(windows) => {
                windows.check(&input, room)?;
                windows.tokens(room)
            }
            None => room,
        };
        let options = ContentOptions {
            room: needed,
            side,
            places: true,
        };
        let [first, second] = self.contents(&input, options)?;
        let counts = [first.len(), second.len()];
        let mut located = Located::default();
        if let Some(windows) = windows {
            let count = windows.count(counts[0], room)?;
            let tokens = Tokens::of(input.text, first);
            for index in 0..count {
                let window = self.window(&tokens, windows.range(index, counts[0], room, side))?;
                located.push(template, &[window, Place::default()]);
            }
            located.truncated = count < windows.needed(counts[0], room);
            return Ok(located);
        }
        let kept = self.kept(&input, counts, room)?;
        let texts = [input.text, input.pair.unwrap_or_default()];
        let mut contents = [Place::default(), Place::default()];
        for (i, tokens) in [first, second].into_iter().enumerate() {
            let range = match side {
                Side::Start => 0..kept[i],
                Side::End => counts[i] - kept[i]..counts[i],
            };
            contents[i] = self.window(&Tokens::of(texts[i], tokens), range)?;
        }
        located.push(template, &contents);
        located.truncated = kept != counts;
        Ok(located)
    }

    /// Only these tokens are copied: the windows of a text may hold a multiple of its tokens.
    fn window(&self, Tokens { all, units }: &Tokens, range: Range<usize>) -> Result<Place> {
        let (ids, names, places) = (all.get_ids(), all.get_tokens(), all.get_offsets());
        let window = range.map(|i| (ids[i], names[i].clone(), places[i], None, 0));
        self.place(window.collect(), units)
    }

    /// Places as the post-processor leaves them, which may take white space off.
    fn place(&self, window: Encoding, units: &Units) -> Result<Place> {
        let window = match self.inner.get_post_processor() {
            Some(processor) => processor
                .process(window, None, false)
                .at("post_processor")?,
            None => window,
        };
        let places = window.get_offsets().iter();
        Ok(Place {
            ids: window.get_ids().to_vec(),
            offsets: places
                .flat_map(|(begin, end)| [units.of_char(*begin), units.of_char(*end)])
                .collect(),
        })
    }

    /// What an id stands for; empty: for nothing.
    pub fn token(&self, id: u32) -> String {
        self.inner.id_to_token(id).unwrap_or_default()
    }

    /// The text that tokens stand for together, as `convert_tokens_to_string` of transformers has it.
    pub fn join(&self, tokens: Vec<String>) -> Result<String> {
        match self.inner.get_decoder() {
            Some(decoder) => decoder.decode(tokens).at("decoder"),
            None => Ok(tokens.join(" ")),
        }
    }

    /// Whether tokens that go on with a word are marked as such.
    pub fn marks_continued_words(&self) -> bool {
        match self.inner.get_model() {
            ModelWrapper::WordPiece(model) => !model.continuing_subword_prefix.is_empty(),
            ModelWrapper::BPE(model) => {
                let prefix = model.continuing_subword_prefix.as_ref();
                prefix.is_some_and(|prefix| !prefix.is_empty())
            }
            _ => false,
        }
    }

    /// Of the token for what the vocabulary does not have; `None`: no file names one.
    pub fn unknown_id(&self) -> Option<u32> {
        self.unknown_id
    }
}

/// How a text that is longer than the model takes is read as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Tokens that a window shares with the one before.
    pub stride: usize,
    /// Number of windows that are read, from the kept side on; `None`: all.
    pub most: Option<usize>,
}

/// Windows that a text may have in any case.
const MIN_WINDOWS: usize = 8;
/// Beyond `MIN_WINDOWS`: multiple of the windows that the text has without overlap. It bounds the tokens of
/// all windows to a multiple of those of the text, which the size of a request bounds.
const MAX_OVERLAP: usize = 4;
/// Windows of one text, whatever its length.
const MAX_WINDOWS: usize = 16_384;

impl Windows {
    /// `room`: tokens of a window beside the special ones.
    fn check(self, input: &Input, room: usize) -> Result<()> {
        let Self { stride, .. } = self;
        let problem = if input.pair.is_some() {
            "stride: of two texts there are no windows".to_owned()
        } else if stride >= room {
            format!(
                "stride: {stride} tokens, but a window has {room} beside its special ones, of which one has to be new"
            )
        } else {
            return Ok(());
        };
        Err(TooLong(problem).into())
    }

    /// Windows of a text of `tokens` tokens.
    fn needed(self, tokens: usize, room: usize) -> usize {
        1 + tokens.saturating_sub(room).div_ceil(room - self.stride)
    }

    /// Windows that are built. An error that is `TooLong` if they are too many: to be called before any
    /// of them is built.
    fn count(self, tokens: usize, room: usize) -> Result<usize> {
        let needed = self.needed(tokens, room);
        if let Some(most) = self.most {
            return Ok(needed.min(most.max(1)));
        }
        let limit = (MAX_OVERLAP * tokens.div_ceil(room)).clamp(MIN_WINDOWS, MAX_WINDOWS);
        if needed <= limit {
            return Ok(needed);
        }
        let new = (tokens - room).div_ceil(limit - 1);
        let fix = match room.checked_sub(new) {
            Some(0) => "Set stride to 0".to_owned(),
            Some(stride) => format!("Set stride to {stride} or less"),
            None => "Send a shorter text".to_owned(),
        };
        Err(TooLong(format!(
            "stride: {} of {room} tokens make {needed} windows of this text of {tokens} tokens, over the limit of {limit}. {fix}",
            self.stride
        ))
        .into())
    }

    /// Tokens of a text that are read at most.
    fn tokens(self, room: usize) -> usize {
        let new = room - self.stride;
        self.most.map_or(usize::MAX, |most| {
            most.saturating_sub(1)
                .saturating_mul(new)
                .saturating_add(room)
        })
    }

    /// The tokens of a window, counted from the kept side.
    fn range(self, index: usize, tokens: usize, room: usize, side: Side) -> Range<usize> {
        let first = index * (room - self.stride);
        let last = (first + room).min(tokens);
        match side {
            Side::Start => first..last,
            Side::End => tokens - last..tokens - first,
        }
    }
}

/// The tokens of a text, with places in characters.
struct Tokens {
    all: Encoding,
    units: Units,
}

impl Tokens {
    /// `all`: with places in bytes.
    fn of(text: &str, mut all: Encoding) -> Self {
        let units = Units::of(text);
        for (begin, end) in all.get_offsets_mut() {
            *begin = units.char_of(*begin);
            *end = units.char_of(*end);
        }
        Self { all, units }
    }
}

/// Tokens without special ones.
#[derive(Default)]
struct Place {
    ids: Vec<u32>,
    /// Begin and end of each.
    offsets: Vec<u32>,
}

impl Located {
    fn push(&mut self, template: &Template, contents: &[Place; 2]) {
        let before = self.ids.len();
        for part in template {
            match *part {
                Part::Id(id, kind) => {
                    self.ids.push(id);
                    self.types.push(kind);
                    self.offsets.extend([0, 0]);
                    self.texts.push(0);
                }
                Part::Text(text, kind) => {
                    let Place { ids, offsets } = &contents[text];
                    self.ids.extend(ids.iter().map(|id| i64::from(*id)));
                    self.types.resize(self.ids.len(), kind);
                    self.offsets.extend(offsets);
                    self.texts
                        .resize(self.ids.len(), if text == 0 { 1 } else { 2 });
                }
            }
        }
        self.lengths.push(self.ids.len() - before);
    }
}

/// Of a text: from bytes to characters, and from those to UTF-16.
struct Units {
    /// By byte, and behind the last one.
    chars: Vec<u32>,
    /// By character, and behind the last one.
    units: Vec<u32>,
}

impl Units {
    fn of(text: &str) -> Self {
        let mut chars = Vec::with_capacity(text.len() + 1);
        let mut units = Vec::with_capacity(text.len() + 1);
        let (mut count, mut unit) = (0, 0);
        for char in text.chars() {
            chars.resize(chars.len() + char.len_utf8(), count);
            units.push(unit);
            count += 1;
            unit += if char.len_utf16() == 2 { 2 } else { 1 };
        }
        chars.push(count);
        units.push(unit);
        Self { chars, units }
    }

    /// The character that a byte is part of.
    fn char_of(&self, byte: usize) -> usize {
        self.chars[byte.min(self.chars.len() - 1)] as usize
    }

    fn of_char(&self, char: usize) -> u32 {
        self.units[char.min(self.units.len() - 1)]
    }
}
