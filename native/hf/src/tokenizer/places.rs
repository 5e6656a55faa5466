//! Where the tokens of texts are in them: for tasks that answer for each token.

use tokenizers::utils::truncation::TruncationDirection;
use tokenizers::{Decoder, Encoding, ModelWrapper, PostProcessor};

use super::{ContentOptions, Input, Side, Tokenizer};
use crate::backend::{Part, Template};
pub use crate::bridge::Located;
use crate::error::{At, Result, TooLong};

impl Tokenizer {
    /// As `encode`, with the places of the tokens.
    ///
    /// `stride`: not what fits is kept, but all of one text in windows of `max_length`, each of which
    /// begins with so many tokens of the one before (return_overflowing_tokens of transformers).
    pub fn locate<'a>(
        &self,
        input: impl Into<Input<'a>>,
        stride: Option<usize>,
    ) -> Result<Located> {
        let input = input.into().without_empty_pair();
        let (template, room) = self.template(&input)?;
        if let Some(stride) = stride {
            self.check_stride(&input, stride, room)?;
        }
        let side = input.kept.unwrap_or(self.kept);
        let options = ContentOptions {
            room: if stride.is_some() { usize::MAX } else { room },
            side,
            places: true,
        };
        let [mut first, mut second] = self.contents(&input, options)?;
        let counts = [first.len(), second.len()];
        let mut located = Located::default();
        if let Some(stride) = stride {
            let windows = self.windows((input.text, &mut first), [room, stride], side)?;
            for window in windows {
                located.push(template, &[window, Place::default()]);
            }
            return Ok(located);
        }
        let kept = self.kept(&input, counts, room)?;
        let pair = input.pair.unwrap_or_default();
        let contents = [
            self.windows((input.text, &mut first), [kept[0], 0], side)?,
            self.windows((pair, &mut second), [kept[1], 0], side)?,
        ];
        located.push(
            template,
            &contents.map(|windows| windows.into_iter().next().unwrap_or_default()),
        );
        located.truncated = kept != counts;
        Ok(located)
    }

    fn check_stride(&self, input: &Input, stride: usize, room: usize) -> Result<()> {
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

    /// Windows of at most `length` tokens, of which `stride` are those of the one before; all of them
    /// with places in UTF-16. `tokens`: of the text, with places in bytes.
    fn windows(
        &self,
        (text, tokens): (&str, &mut Encoding),
        [length, stride]: [usize; 2],
        side: Side,
    ) -> Result<Vec<Place>> {
        let units = Units::of(text);
        for (begin, end) in tokens.get_offsets_mut() {
            *begin = units.char_of(*begin);
            *end = units.char_of(*end);
        }
        let direction = match side {
            Side::Start => TruncationDirection::Right,
            Side::End => TruncationDirection::Left,
        };
        let mut tokens = std::mem::take(tokens);
        tokens.truncate(length, stride, direction);
        let others = tokens.take_overflowing();
        let all = std::iter::once(tokens).chain(others);
        all.map(|window| self.place(window, &units)).collect()
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
