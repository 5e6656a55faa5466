#![no_main]

#[path = "../mutators/protobuf.rs"]
mod protobuf;
#[path = "../mutators/random.rs"]
mod random;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use random::{Random, replace};

fuzz_target!(
    // Replaces libFuzzer's hook, which would terminate the process even for a caught panic.
    init: std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))),
    |data: &[u8]| tokenizers_ffi::fuzz::sentencepiece(data)
);

// Mutates one field of the model, or any bytes.
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    let random = &mut Random::new(seed);
    mutate_model(&data[..size], random)
        .filter(|_| random.below(6) > 0)
        .and_then(|changed| replace(data, &changed, most))
        .unwrap_or_else(|| fuzzer_mutate(data, size, most))
});

fn mutate_model(input: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (class, model) = input.split_first()?;
    let class = if random.below(10) == 0 {
        random.below(5) as u8
    } else {
        *class
    };
    let changed = protobuf::mutate(model, random)?;
    Some([&[class], &changed[..]].concat())
}
