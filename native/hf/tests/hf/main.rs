mod common;
mod ffi;
mod parity;
mod tensors;
mod tokenizer;
mod tokenizer_errors;
