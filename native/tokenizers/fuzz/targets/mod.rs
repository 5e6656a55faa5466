//! Fuzz targets, which the tests run on the corpus. A target panics if a guarantee of src/bridge.rs does not hold;
//! errors are permitted.

mod checked;
mod early_truncation;
mod encode;
mod fixtures;
mod safetensors;
mod sentencepiece;
mod tokenizer_files;

pub use early_truncation::early_truncation;
pub use encode::encode;
pub use safetensors::safetensors;
pub use sentencepiece::sentencepiece;
pub use tokenizer_files::tokenizer_files;

#[cfg(test)]
mod tests;
