//! Fuzz target of SentencePiece models.

use super::tokenizer_files::{self, Files};
use crate::bridge::Family;

/// Family and file name of its model.
const CLASSES: [(Family, &str); 5] = [
    (Family::Albert, "spiece.model"),
    (Family::XlmRoberta, "sentencepiece.bpe.model"),
    (Family::Camembert, "sentencepiece.bpe.model"),
    (Family::DebertaV2, "spm.model"),
    (Family::TokenizerJson, "tokenizer.model"),
];

/// The first byte selects the family; the rest is the file.
pub fn sentencepiece(data: &[u8]) {
    let Some((choice, model)) = data.split_first() else {
        return;
    };
    let (family, name) = CLASSES[usize::from(*choice) % CLASSES.len()];
    let files = Files {
        family,
        files: vec![(name, model)],
        text: b"The film is \xe2\x80\xa6 \xc2\xbd \xef\xac\x81ne\xc2\xad a\xcc\x81 <s>\xe9\x9b\xbb \0 ",
    };
    tokenizer_files::open(&files);
}
