//! Tokenizers of the test fixtures, each opened once.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::bridge::Family;

/// Folders relative to the repository's root.
const DIRECTORIES: [(&str, Family); 16] = [
    ("models/sentiment", Family::Bert),
    ("test/fixtures/models/bert-single-label", Family::Bert),
    (
        "test/fixtures/models/bert-cased-vocab-txt-sharded-float16",
        Family::Bert,
    ),
    (
        "test/fixtures/models/roberta-three-labels-float16",
        Family::Roberta,
    ),
    (
        "test/fixtures/models/roberta-vocab-json-sharded",
        Family::Roberta,
    ),
    (
        "test/fixtures/models/modernbert-float16",
        Family::TokenizerJson,
    ),
    ("test/fixtures/tokenizers/albert", Family::Albert),
    ("test/fixtures/tokenizers/albert-cased", Family::Albert),
    (
        "test/fixtures/tokenizers/bpe-with-bytes",
        Family::TokenizerJson,
    ),
    ("test/fixtures/tokenizers/camembert", Family::Camembert),
    ("test/fixtures/tokenizers/deberta-v2", Family::DebertaV2),
    ("test/fixtures/tokenizers/deberta-v2-bpe", Family::DebertaV2),
    ("test/fixtures/tokenizers/electra", Family::Bert),
    ("test/fixtures/tokenizers/mpnet", Family::Mpnet),
    ("test/fixtures/tokenizers/xlm-roberta", Family::XlmRoberta),
    (
        "test/fixtures/models/xlm-roberta-multi-label-sharded",
        Family::XlmRoberta,
    ),
];

/// One lazily created value per folder.
pub struct Each<T>([OnceLock<T>; DIRECTORIES.len()]);

impl<T> Each<T> {
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; DIRECTORIES.len()])
    }

    /// Returns the value of folder `choice`, modulo their number. `make` receives the folder and its family.
    pub fn get(&self, choice: u8, make: impl FnOnce(&Path, Family) -> T) -> (&'static str, &T) {
        let index = usize::from(choice) % DIRECTORIES.len();
        let (name, family) = DIRECTORIES[index];
        let value = self.0[index].get_or_init(|| make(&root().join(name), family));
        (name, value)
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
