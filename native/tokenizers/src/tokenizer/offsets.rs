//! Encodings with offsets, for token classification and other tasks with results per token.

use std::ops::Range;

use tokenizers::{Encoding, PostProcessor};

use super::{EncodeOptions, Input, Side, Tokenizer, TooLong};
use crate::backend::Part;
pub use crate::bridge::EncodingWithOffsets;
use errors::{At, Result};

impl Tokenizer {
    /// Encodes the input and returns offsets.
    ///
    /// `windows`: encodes the whole text in overlapping windows of `max_length` (`return_overflowing_tokens` of
    /// transformers) instead of one truncated window.
    pub fn encode_with_offsets<'a>(
        &self,
        input: impl Into<Input<'a>>,
        windows: Option<Windows>,
    ) -> Result<EncodingWithOffsets> {
        let input = input.into().without_empty_pair();
        let (template, room) = self.template(&input)?;
        let side = input.kept_side.unwrap_or(self.kept_side);
        let needed = match windows {
            Some(windows) => {
                windows.validate(&input, room)?;
                windows.max_text_tokens(room)
            }
            None => room,
        };
        let options = EncodeOptions {
            room: needed,
            side,
            with_offsets: true,
        };
        let [first, second] = self.encode_texts(&input, options)?;
        let counts = [first.len(), second.len()];
        let mut encoding = EncodingWithOffsets::default();
        if let Some(windows) = windows {
            let count = windows.count(counts[0], room)?;
            let tokens = TextTokens::of(input.text, first);
            for index in 0..count {
                let window = self.window(&tokens, windows.range(index, counts[0], room, side))?;
                encoding.push(template, &[window, WindowTokens::default()]);
            }
            encoding.truncated = count < windows.needed(counts[0], room);
            return Ok(encoding);
        }
        let kept = self.kept_counts(&input, counts, room)?;
        let texts = [input.text, input.pair.unwrap_or_default()];
        let mut contents = [WindowTokens::default(), WindowTokens::default()];
        for (i, tokens) in [first, second].into_iter().enumerate() {
            let range = match side {
                Side::Start => 0..kept[i],
                Side::End => counts[i] - kept[i]..counts[i],
            };
            contents[i] = self.window(&TextTokens::of(texts[i], tokens), range)?;
        }
        encoding.push(template, &contents);
        encoding.truncated = kept != counts;
        Ok(encoding)
    }

    /// Tokens of one window. Only these are copied, because the windows of a text may hold a multiple of its tokens.
    fn window(
        &self,
        TextTokens { all, offsets }: &TextTokens,
        range: Range<usize>,
    ) -> Result<WindowTokens> {
        let (ids, names, ranges) = (all.get_ids(), all.get_tokens(), all.get_offsets());
        let window = range.map(|i| (ids[i], names[i].clone(), ranges[i], None, 0));
        self.trim_offsets(window.collect(), offsets)
    }

    /// Applies the post-processor, which may remove white space from offsets.
    fn trim_offsets(&self, window: Encoding, map: &OffsetMap) -> Result<WindowTokens> {
        let window = match self.inner.get_post_processor() {
            Some(processor) => processor
                .process(window, None, false)
                .at("post_processor")?,
            None => window,
        };
        let offsets = window.get_offsets().iter();
        Ok(WindowTokens {
            ids: window.get_ids().to_vec(),
            offsets: offsets
                .flat_map(|(begin, end)| [map.utf16_of(*begin), map.utf16_of(*end)])
                .collect(),
        })
    }
}

/// Windowing of a text that exceeds the model's limit.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Number of tokens that consecutive windows share.
    pub stride: usize,
    /// Maximum number of windows, from the kept side; `None`: all.
    pub max_windows: Option<usize>,
}

/// Number of windows that every text may have.
const MIN_WINDOWS: usize = 8;
/// Maximum number of windows beyond `MIN_WINDOWS`, as multiple of the number of windows without overlap. Bounds the
/// tokens of all windows to a multiple of the tokens of the text.
const MAX_OVERLAP: usize = 4;
/// Maximum number of windows of a text of any length.
const MAX_WINDOWS: usize = 16_384;

impl Windows {
    /// Fails with `TooLong` for pairs and for a stride without new tokens. `room`: tokens of a window without special
    /// tokens.
    fn validate(self, input: &Input, room: usize) -> Result<()> {
        let Self { stride, .. } = self;
        let problem = if input.pair.is_some() {
            "stride: text pairs have no windows. Send a single text or no stride".to_owned()
        } else if stride >= room {
            format!(
                "stride: {stride} tokens, expected fewer than the {room} text tokens of a window. Lower stride"
            )
        } else {
            return Ok(());
        };
        Err(TooLong(problem).into())
    }

    /// Number of windows of a text of `tokens` tokens.
    fn needed(self, tokens: usize, room: usize) -> usize {
        1 + tokens.saturating_sub(room).div_ceil(room - self.stride)
    }

    /// Number of windows to build. Fails with `TooLong` if they exceed the limit; called before any window is built.
    fn count(self, tokens: usize, room: usize) -> Result<usize> {
        let needed = self.needed(tokens, room);
        if let Some(max) = self.max_windows {
            return Ok(needed.min(max.max(1)));
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

    /// Maximum number of tokens of a text that are used.
    fn max_text_tokens(self, room: usize) -> usize {
        let new = room - self.stride;
        self.max_windows.map_or(usize::MAX, |max| {
            max.saturating_sub(1)
                .saturating_mul(new)
                .saturating_add(room)
        })
    }

    /// Token range of a window. Windows are counted from the kept side.
    fn range(self, index: usize, tokens: usize, room: usize, side: Side) -> Range<usize> {
        let first = index * (room - self.stride);
        let last = (first + room).min(tokens);
        match side {
            Side::Start => first..last,
            Side::End => tokens - last..tokens - first,
        }
    }
}

/// Tokens of a text, with offsets in characters.
struct TextTokens {
    all: Encoding,
    offsets: OffsetMap,
}

impl TextTokens {
    /// Converts the offsets of `all` from bytes to characters.
    fn of(text: &str, mut all: Encoding) -> Self {
        let offsets = OffsetMap::of(text);
        for (begin, end) in all.get_offsets_mut() {
            *begin = offsets.char_of(*begin);
            *end = offsets.char_of(*end);
        }
        Self { all, offsets }
    }
}

/// Tokens of a window, without special tokens.
#[derive(Default)]
pub(super) struct WindowTokens {
    pub ids: Vec<u32>,
    /// Start and end of each token.
    pub offsets: Vec<u32>,
}

impl EncodingWithOffsets {
    pub(super) fn push(&mut self, template: &[Part], contents: &[WindowTokens; 2]) {
        let before = self.input_ids.len();
        for part in template {
            match *part {
                Part::Id(id, kind) => {
                    self.input_ids.push(id);
                    self.token_type_ids.push(kind);
                    self.offsets.extend([0, 0]);
                    self.sequence_ids.push(0);
                }
                Part::Text(text, kind) => {
                    let WindowTokens { ids, offsets } = &contents[text];
                    self.input_ids.extend(ids.iter().map(|id| i64::from(*id)));
                    self.token_type_ids.resize(self.input_ids.len(), kind);
                    self.offsets.extend(offsets);
                    self.sequence_ids
                        .resize(self.input_ids.len(), if text == 0 { 1 } else { 2 });
                }
            }
        }
        self.window_lengths.push(self.input_ids.len() - before);
    }
}

/// Maps bytes of a text to characters, and characters to UTF-16 units.
struct OffsetMap {
    /// Character index of each byte, and of the end.
    chars: Vec<u32>,
    /// UTF-16 offset of each character, and of the end.
    units: Vec<u32>,
}

impl OffsetMap {
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

    /// Index of the character that contains a byte.
    fn char_of(&self, byte: usize) -> usize {
        self.chars[byte.min(self.chars.len() - 1)] as usize
    }

    fn utf16_of(&self, char: usize) -> u32 {
        self.units[char.min(self.units.len() - 1)]
    }
}
