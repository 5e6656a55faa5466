//! The tokenizers of the repository's tests, each opened once.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Directory under the root, number of its `hf_family`.
const DIRECTORIES: [(&str, i32); 16] = [
    ("models/sentiment", 0),
    ("test/fixtures/models/bert-single-label", 0),
    (
        "test/fixtures/models/bert-cased-vocab-txt-sharded-float16",
        0,
    ),
    ("test/fixtures/models/roberta-three-labels-float16", 1),
    ("test/fixtures/models/roberta-vocab-json-sharded", 1),
    ("test/fixtures/models/modernbert-float16", 7),
    ("test/fixtures/tokenizers/albert", 3),
    ("test/fixtures/tokenizers/albert-cased", 3),
    ("test/fixtures/tokenizers/bpe-with-bytes", 7),
    ("test/fixtures/tokenizers/camembert", 5),
    ("test/fixtures/tokenizers/deberta-v2", 6),
    ("test/fixtures/tokenizers/deberta-v2-bpe", 6),
    ("test/fixtures/tokenizers/electra", 0),
    ("test/fixtures/tokenizers/mpnet", 2),
    ("test/fixtures/tokenizers/xlm-roberta", 4),
    ("test/fixtures/models/xlm-roberta-multi-label-sharded", 4),
];

/// One value for each directory, made when it is first asked for.
pub struct Each<T>([OnceLock<T>; DIRECTORIES.len()]);

impl<T> Each<T> {
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; DIRECTORIES.len()])
    }

    /// `choice`: any number; `make` gets the directory and its family.
    pub fn get(&self, choice: u8, make: impl FnOnce(&Path, i32) -> T) -> (&'static str, &T) {
        let index = usize::from(choice) % DIRECTORIES.len();
        let (name, family) = DIRECTORIES[index];
        let value = self.0[index].get_or_init(|| make(&root().join(name), family));
        (name, value)
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
