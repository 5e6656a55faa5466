//! What the fuzzers call with their bytes, and the tests with the kept ones. Each function panics when
//! a promise of src/bridge.rs is broken; all that files and texts can do is fail.

mod checked;
mod cut;
mod encode;
mod fixtures;
mod looks;
mod safetensors;
mod sentencepiece;
mod tokenizer_files;

pub use cut::cut;
pub use encode::encode;
pub use looks::looks;
pub use safetensors::safetensors;
pub use sentencepiece::sentencepiece;
pub use tokenizer_files::tokenizer_files;

#[cfg(test)]
mod tests;
