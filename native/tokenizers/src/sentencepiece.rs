//! Reader of SentencePiece models (sentencepiece_model.proto), limited to the fields that transformers uses.

use prost::Message;
use prost::encoding::{DecodeContext, WireType, check_wire_type, decode_key, skip_field};
use tokenizers::normalizers::Precompiled;

use crate::files::MAX_ENTRIES;
use errors::{At, Result, anyhow, ensure};

pub mod charsmap;
mod proto;

pub use proto::PieceType;
use proto::{ModelProto, TrainerSpec};

#[derive(Debug)]
pub struct Piece {
    pub text: String,
    /// Score of the file, a float32, as double.
    pub score: f64,
    pub kind: PieceType,
}

pub struct Model {
    /// Pieces in the order of their ids.
    pub pieces: Vec<Piece>,
    pub trainer: TrainerSpec,
    pub charsmap: Option<Precompiled>,
}

impl Model {
    /// Parses a model. `file`: file name for error messages.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).at(format_args!("{file}: not a SentencePiece model"))
    }

    fn read(bytes: &[u8]) -> Result<Self> {
        let pieces = read_pieces(bytes)?;
        let model = ModelProto::decode(bytes)?;
        let normalizer = model.normalizer_spec.unwrap_or_default();
        let charsmap = match normalizer.precompiled_charsmap() {
            [] => Ok(None),
            rules => charsmap::parse(rules).map(Some),
        };
        let charsmap = charsmap.at("normalizer_spec: precompiled_charsmap")?;
        ensure!(!pieces.is_empty(), "no pieces");
        Ok(Self {
            pieces,
            trainer: model.trainer_spec.unwrap_or_default(),
            charsmap,
        })
    }
}

/// Reads the pieces one by one, so that an error contains the index of the piece.
fn read_pieces(mut bytes: &[u8]) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (number, wire_type) = decode_key(&mut bytes)?;
        if number != proto::PIECES {
            skip_field(wire_type, number, &mut bytes, DecodeContext::default())?;
            continue;
        }
        let index = pieces.len();
        ensure!(index < MAX_ENTRIES, "more than {MAX_ENTRIES} pieces");
        let piece = check_wire_type(WireType::LengthDelimited, wire_type)
            .and_then(|()| proto::SentencePiece::decode_length_delimited(&mut bytes));
        let piece = piece.map_err(Into::into).and_then(Piece::read);
        pieces.push(piece.at(format_args!("pieces[{index}]"))?);
    }
    Ok(pieces)
}

impl Piece {
    fn read(piece: proto::SentencePiece) -> Result<Self> {
        let kind = piece
            .r#type
            .map_or(Ok(PieceType::Normal), PieceType::try_from);
        let score = f64::from(piece.score());
        ensure!(score.is_finite(), "score: {score} is not finite");
        Ok(Self {
            text: piece.piece.unwrap_or_default(),
            score,
            kind: kind.map_err(|error| anyhow!("type: {} is not known", error.0))?,
        })
    }
}
