mod bridge;
mod common;
mod pairs;
mod parity;
mod sentencepiece;
mod tensors;
mod tokenizer;
mod tokenizer_errors;
