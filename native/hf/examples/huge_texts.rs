//! How long huge texts take, each alone and as a pair with itself, and what memory they take above the
//! text itself:
//! `cargo run --release --example huge_texts -- DIRECTORY FAMILY [MEGABYTES…]`.

use std::path::Path;
use std::time::Instant;

use hf::tokenizer::{Family, Input, Tokenizer};

const TEXTS: [(&str, &str); 9] = [
    ("words", "It was a good film, and I'd see it again. "),
    ("one word of letters", "abcdefghijklmnopqrstuvwxyz"),
    ("Chinese", "这部电影非常好看我还想再看一次"),
    ("Thai", "ภาพยนตร์เรื่องนี้ดีมาก"),
    ("emoji", "😀🎬👍"),
    ("emoji families", "👨\u{200d}👩\u{200d}👧"),
    ("punctuation", "!?.,;:-()"),
    ("combining marks", "\u{301}\u{323}\u{308}"),
    ("spaces", " "),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, family, sizes @ ..] = arguments.as_slice() else {
        panic!("expected DIRECTORY FAMILY [MEGABYTES…]");
    };
    let family = (0..8)
        .filter_map(Family::from_c)
        .find(|known| format!("{known:?}") == *family)
        .expect("FAMILY: Bert, Roberta, …");
    let tokenizer = Tokenizer::open(Path::new(directory), family, 512).expect("a tokenizer");
    for (name, unit) in TEXTS {
        for size in sizes {
            let bytes = size.parse::<usize>().expect("MEGABYTES: a number") * 1_000_000;
            let text = unit.repeat(bytes / unit.len());
            let alone = Input::from(text.as_str());
            let pair = Input {
                pair: Some(&text),
                ..alone
            };
            for (kind, input) in [("alone", alone), ("pair", pair)] {
                let before = reset_peak();
                let start = Instant::now();
                let encoding = tokenizer.encode(input).expect("an encoding");
                let seconds = start.elapsed().as_secs_f64();
                let memory = status("VmHWM:").saturating_sub(before) / 1024;
                let tokens = encoding.input_ids.len();
                println!(
                    "{name:20} {kind:5} {size:>3} MB {seconds:8.4} s {memory:5} MiB {tokens:4} tokens"
                );
            }
        }
    }
}

/// The resident memory now, in KiB, from which the peak is counted (Linux).
fn reset_peak() -> usize {
    std::fs::write("/proc/self/clear_refs", "5").expect("/proc/self/clear_refs");
    status("VmRSS:")
}

fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let line = status.lines().find(|line| line.starts_with(name));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    words.and_then(|word| word.parse().ok()).expect("a size")
}
