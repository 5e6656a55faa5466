#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tokenizers_ffi::fuzz::early_truncation(data));
