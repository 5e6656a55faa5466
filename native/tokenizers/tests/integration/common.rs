//! Small tokenizer folders, created by the tests.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokenizers_ffi::tokenizer::{Encoding, Family, Tokenizer};

/// Creates a folder with the given files.
pub fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, content) in files {
        fs::write(directory.path().join(name), content).expect("a written file");
    }
    directory
}

pub const VOCAB_TXT: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nfilm\nis\ngood\nbad\n##ly\n.\n\
                             !\n电\n影\ncafe\ncafé\nThe\n";

/// Byte-level vocabulary: the letters a to e, the space ("Ġ") and a few merges.
pub fn vocab_json() -> Value {
    json!({
        "<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4, "b": 5, "c": 6, "d": 7, "e": 8,
        "Ġ": 9, "ab": 10, "Ġab": 11, "cd": 12, "abcd": 13, "<mask>": 14
    })
}

pub const MERGES_TXT: &str = "#version: 0.2\na b\nĠ ab\nc d\nab cd\n";

pub fn bert(extra: &[(&str, &str)]) -> TempDir {
    directory(&[&[("vocab.txt", VOCAB_TXT)], extra].concat())
}

pub fn roberta(extra: &[(&str, &str)]) -> TempDir {
    let vocab = vocab_json().to_string();
    directory(
        &[
            &[("vocab.json", vocab.as_str()), ("merges.txt", MERGES_TXT)],
            extra,
        ]
        .concat(),
    )
}

pub fn open(directory: &TempDir, family: Family) -> Tokenizer {
    open_with_limit(directory, family, 16)
}

pub fn open_with_limit(directory: &TempDir, family: Family, limit: usize) -> Tokenizer {
    Tokenizer::open(directory.path(), family, limit).expect("a tokenizer")
}

pub fn error(directory: &TempDir, family: Family) -> String {
    match Tokenizer::open(directory.path(), family, 16) {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.to_string(),
    }
}

pub fn encode(tokenizer: &Tokenizer, text: &str) -> Encoding {
    tokenizer.encode(text).expect("an encoding")
}

pub fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<i64> {
    encode(tokenizer, text).input_ids
}
