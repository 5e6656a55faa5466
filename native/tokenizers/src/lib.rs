//! The official Hugging Face crates `tokenizers` and `safetensors`, and `serde_json`, for C++.
//!
//! A tokenizer is built from a model directory as `transformers` 5.23's `AutoTokenizer` builds it:
//! `settings` reads the configuration files, `class` chooses the tokenizer class, `backend` builds
//! that class (from `sentencepiece` models where it must), `tokenizer`
//! encodes and truncates, `cut` spares it the rest of a huge text. `bridge` is what C++ sees of it.
//! `guard` looks at texts for a guard: patterns, and the forms in which a text may hide.

mod backend;
pub mod bridge;
mod class;
mod cut;
mod error;
mod exported;
mod files;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../fuzz/targets/mod.rs"]
pub mod fuzz;
pub mod guard;
mod json;
mod sentencepiece;
mod settings;
pub mod tensors;
pub mod tokenizer;

pub use error::TooLong;
