//! The official Hugging Face crates `tokenizers` and `safetensors`, and programs of torch.export, for C++.
//!
//! A tokenizer is built from a model folder as `AutoTokenizer` of `transformers` 5.23 builds it: `config` reads the
//! configuration files, `tokenizer_class` selects the class, `backend` builds it (from `sentencepiece` models if
//! necessary), `tokenizer` encodes and truncates, and `early_truncation` skips the rest of very long texts.

mod backend;
pub mod bridge;
mod config;
mod early_truncation;
mod exported;
mod files;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../fuzz/targets/mod.rs"]
pub mod fuzz;
mod json;
mod sentencepiece;
pub mod tensors;
pub mod tokenizer;
mod tokenizer_class;

pub use tokenizer::TooLong;
