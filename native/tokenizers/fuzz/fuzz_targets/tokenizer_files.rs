#![no_main]

#[path = "../mutators/json.rs"]
mod json;
#[path = "../mutators/random.rs"]
mod random;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use random::{Random, replace};

const MARK: &[u8] = b"\n=== ";

fuzz_target!(
    // Replaces libFuzzer's hook, which would terminate the process even for a caught panic.
    init: std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))),
    |data: &[u8]| tokenizers_ffi::fuzz::tokenizer_files(data)
);

// Mutates one value of one JSON file, or any bytes.
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    let random = &mut Random::new(seed);
    mutate_file(&data[..size], random)
        .filter(|_| random.below(6) > 0)
        .and_then(|changed| replace(data, &changed, most))
        .unwrap_or_else(|| fuzzer_mutate(data, size, most))
});

fn mutate_file(input: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let marks = input.windows(MARK.len()).enumerate();
    let marks: Vec<usize> = marks
        .filter(|(_, bytes)| *bytes == MARK)
        .map(|(at, _)| at)
        .collect();
    let chosen = random.below(marks.len());
    let mark = *marks.get(chosen)?;
    let name_end = input[mark + 1..].iter().position(|byte| *byte == b'\n')?;
    let start = mark + 1 + name_end + 1;
    let end = marks
        .get(chosen + 1)
        .copied()
        .unwrap_or(input.len())
        .max(start);
    let changed = json::mutate(&input[start..end], random)?;
    Some([&input[..start], &changed, &input[end..]].concat())
}
