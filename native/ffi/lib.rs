//! The static library of both crates: two static libraries would each contain Rust's standard library.

pub use {guard, tokenizers_ffi};
