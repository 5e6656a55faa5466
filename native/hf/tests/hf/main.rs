mod common;
mod ffi;
mod parity;
mod sentencepiece;
mod tensors;
mod tokenizer;
mod tokenizer_errors;
