//! SentencePiece models (sentencepiece_model.proto), as much of them as transformers reads.

use prost::encoding::{DecodeContext, WireType, check_wire_type, decode_key, skip_field};
use prost::{DecodeError, Message};
use tokenizers::normalizers::Precompiled;

use crate::error::{Error, Result};
use crate::files::MOST_ENTRIES;

pub mod charsmap;
mod proto;

use proto::ModelProto;
pub use proto::PieceType;

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
        Self::read(bytes).map_err(|problem| {
            Error::in_file(file, format!("not a SentencePiece model: {problem}"))
        })
    }

    fn read(bytes: &[u8]) -> Read<Self> {
        let pieces = read_pieces(bytes)?;
        let model = ModelProto::decode(bytes).map_err(|error| error.to_string())?;
        let trainer = model.trainer_spec.unwrap_or_default();
        let normalizer = model.normalizer_spec.unwrap_or_default();
        let charsmap = match normalizer.precompiled_charsmap() {
            [] => Ok(None),
            rules => charsmap::parse(rules).map(Some),
        };
        let charsmap = charsmap
            .map_err(|problem| format!("normalizer_spec: precompiled_charsmap: {problem}"))?;
        if pieces.is_empty() {
            return Err("it has no pieces".to_owned());
        }
        Ok(Self {
            pieces,
            is_unigram: trainer.model_type() == proto::UNIGRAM,
            byte_fallback: trainer.byte_fallback(),
            unk_id: trainer.unk_id(),
            bos_id: trainer.bos_id(),
            eos_id: trainer.eos_id(),
            unk_piece: trainer.unk_piece().to_owned(),
            bos_piece: trainer.bos_piece().to_owned(),
            eos_piece: trainer.eos_piece().to_owned(),
            charsmap,
        })
    }
}

/// One after the other, so that an error says which.
fn read_pieces(mut bytes: &[u8]) -> Read<Vec<Piece>> {
    let failed = |error: DecodeError| error.to_string();
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (number, wire_type) = decode_key(&mut bytes).map_err(failed)?;
        if number != proto::PIECES {
            let context = DecodeContext::default();
            skip_field(wire_type, number, &mut bytes, context).map_err(failed)?;
            continue;
        }
        let index = pieces.len();
        if index == MOST_ENTRIES {
            return Err(format!("more than {MOST_ENTRIES} pieces"));
        }
        let piece = check_wire_type(WireType::LengthDelimited, wire_type)
            .and_then(|()| proto::SentencePiece::decode_length_delimited(&mut bytes))
            .map_err(failed)
            .and_then(Piece::read);
        pieces.push(piece.map_err(|problem| format!("pieces[{index}]: {problem}"))?);
    }
    Ok(pieces)
}

impl Piece {
    fn read(piece: proto::SentencePiece) -> Read<Self> {
        let kind = piece
            .r#type
            .map_or(Ok(PieceType::Normal), PieceType::try_from);
        let score = f64::from(piece.score());
        if !score.is_finite() {
            return Err(format!("score: {score} is not finite"));
        }
        Ok(Self {
            text: piece.piece.unwrap_or_default(),
            score,
            kind: kind.map_err(|error| format!("type: {} is not known", error.0))?,
        })
    }
}
