//! SentencePiece models, in the place of each class's own.

use super::tokenizer_files::{self, Files};

/// `hf_family` and the name of its model.
const CLASSES: [(i32, &str); 5] = [
    (3, "spiece.model"),
    (4, "sentencepiece.bpe.model"),
    (5, "sentencepiece.bpe.model"),
    (6, "spm.model"),
    (7, "tokenizer.model"),
];

/// The first byte chooses the class, the rest is the file.
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
