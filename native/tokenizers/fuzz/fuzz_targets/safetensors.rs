#![no_main]

#[path = "../mutators/json.rs"]
mod json;
#[path = "../mutators/random.rs"]
mod random;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use random::{Random, replace};

fuzz_target!(|data: &[u8]| tokenizers_ffi::fuzz::safetensors(data));

// Mutates one value of the header and updates its length, or mutates any bytes.
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    let random = &mut Random::new(seed);
    mutate_header(&data[..size], random)
        .filter(|_| random.below(6) > 0)
        .and_then(|changed| replace(data, &changed, most))
        .unwrap_or_else(|| fuzzer_mutate(data, size, most))
});

fn mutate_header(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (length, rest) = file.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let header = json::mutate(rest.get(..length)?, random)?;
    let size = (header.len() as u64).to_le_bytes();
    Some([&size[..], &header, &rest[length..]].concat())
}
