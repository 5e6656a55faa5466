//! SentencePiece models (sentencepiece_model.proto), as much of them as transformers reads.

use tokenizers::normalizers::Precompiled;

use crate::error::{Error, Result};
use crate::files::MOST_ENTRIES;

pub mod charsmap;
mod wire;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceType {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

#[derive(Debug)]
pub struct Piece {
    pub text: String,
    /// The double that the file's float32 widens to.
    pub score: f64,
    pub kind: PieceType,
}

pub struct Model {
    /// By id.
    pub pieces: Vec<Piece>,
    pub is_unigram: bool,
    pub byte_fallback: bool,
    pub unk_id: i32,
    pub bos_id: i32,
    pub eos_id: i32,
    pub unk_piece: String,
    pub bos_piece: String,
    pub eos_piece: String,
    pub charsmap: Option<Precompiled>,
}

type Read<T> = std::result::Result<T, String>;

impl Model {
    /// `file`: its name, for messages.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let model = Self::read(bytes).map_err(|problem| {
            Error::in_file(file, format!("not a SentencePiece model: {problem}"))
        })?;
        if model.pieces.is_empty() {
            return Err(Error::in_file(
                file,
                "not a SentencePiece model: it has no pieces",
            ));
        }
        Ok(model)
    }

    fn read(bytes: &[u8]) -> Read<Self> {
        // The defaults of the format.
        let mut model = Self {
            pieces: Vec::new(),
            is_unigram: true,
            byte_fallback: false,
            unk_id: 0,
            bos_id: 1,
            eos_id: 2,
            unk_piece: "<unk>".to_owned(),
            bos_piece: "<s>".to_owned(),
            eos_piece: "</s>".to_owned(),
            charsmap: None,
        };
        for field in wire::fields(bytes) {
            let (number, value) = field?;
            match number {
                1 => {
                    let index = model.pieces.len();
                    if index == MOST_ENTRIES {
                        return Err(format!("more than {MOST_ENTRIES} pieces"));
                    }
                    let piece = value.bytes().and_then(Piece::read);
                    model
                        .pieces
                        .push(piece.map_err(|problem| format!("pieces[{index}]: {problem}"))?);
                }
                2 => {
                    let read = value.bytes().and_then(|spec| model.read_trainer(spec));
                    read.map_err(|problem| format!("trainer_spec: {problem}"))?;
                }
                3 => {
                    let read = value.bytes().and_then(|spec| model.read_normalizer(spec));
                    read.map_err(|problem| format!("normalizer_spec: {problem}"))?;
                }
                _ => {}
            }
        }
        Ok(model)
    }

    fn read_trainer(&mut self, spec: &[u8]) -> Read<()> {
        for field in wire::fields(spec) {
            let (number, value) = field?;
            match number {
                3 => self.is_unigram = value.int32()? == 1,
                35 => self.byte_fallback = value.int32()? != 0,
                40 => self.unk_id = value.int32()?,
                41 => self.bos_id = value.int32()?,
                42 => self.eos_id = value.int32()?,
                45 => self.unk_piece = value.text()?,
                46 => self.bos_piece = value.text()?,
                47 => self.eos_piece = value.text()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn read_normalizer(&mut self, spec: &[u8]) -> Read<()> {
        for field in wire::fields(spec) {
            let (number, value) = field?;
            if number == 2 {
                let charsmap = value.bytes()?;
                self.charsmap = if charsmap.is_empty() {
                    None
                } else {
                    let parsed = charsmap::parse(charsmap);
                    Some(parsed.map_err(|problem| format!("precompiled_charsmap: {problem}"))?)
                };
            }
        }
        Ok(())
    }
}

impl Piece {
    fn read(message: &[u8]) -> Read<Self> {
        let mut piece = Self {
            text: String::new(),
            score: 0.0,
            kind: PieceType::Normal,
        };
        for field in wire::fields(message) {
            let (number, value) = field?;
            match number {
                1 => piece.text = value.text()?,
                2 => piece.score = f64::from(value.float()?),
                3 => piece.kind = PieceType::from_number(value.int32()?)?,
                _ => {}
            }
        }
        if !piece.score.is_finite() {
            return Err(format!("score: {} is not finite", piece.score));
        }
        Ok(piece)
    }
}

impl PieceType {
    fn from_number(number: i32) -> Read<Self> {
        Ok(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return Err(format!("type: {number} is not known")),
        })
    }
}
