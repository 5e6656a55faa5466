//! Measures CPU time and additional memory for very long worst-case texts: `cargo run --release --example huge_texts --
//! DIRECTORY FAMILY [MEGABYTES…]`.

use std::path::Path;

use tokenizers_ffi::tokenizer::{Family, Input, Tokenizer};

/// Repeated units: the kinds of test/fuzz/worst-texts.ts, and ordinary words.
const TEXTS: [(&str, &str); 38] = [
    ("words", "It was a good film, and I'd see it again. "),
    (
        "words in Russian",
        "Это был хороший фильм, и я посмотрю его снова. ",
    ),
    ("one word", "x"),
    ("one word of the alphabet", "abcdefghijklmnopqrstuvwxyz"),
    ("letters of many kinds", "aZéßжあ"),
    ("combining marks", "\u{301}"),
    ("marks in the wrong order", "\u{301}\u{323}\u{308}"),
    (
        "a letter and marks",
        "e\u{301}\u{327}\u{301}\u{327}\u{301}\u{327}",
    ),
    ("accents to be stripped", "éüñå"),
    ("emoji", "😀🎬👍"),
    ("emoji joiners", "👨\u{200d}👩\u{200d}👧"),
    ("flags and skin tones", "🇩🇪👍🏽"),
    ("one bracket", "("),
    ("punctuation", "!?.,;:-()"),
    ("spaces", " "),
    ("spaces of all kinds", " \t\n\u{a0}\u{2003}\u{3000}"),
    ("line ends", "\r\n"),
    ("a space after each letter", "a "),
    ("two spaces after each letter", "a  "),
    ("digits", "1"),
    ("apostrophes", "'"),
    ("contractions", "'s't're've"),
    ("quotes of two characters", "``''"),
    ("Chinese", "这部电影非常好看我还想再看一次"),
    ("Japanese", "かな漢字"),
    ("Thai", "ที่"),
    ("Hangul", "각\u{1100}\u{1161}"),
    ("Hebrew", "שָׁלוֹם"),
    ("Arabic", "مَرْحَبًا "),
    ("control characters", "\u{1}"),
    ("a letter and NUL", "a\0"),
    ("invisible characters", "\u{200b}\u{feff}\u{2060}"),
    ("full width", "ＡＢ１"),
    ("ligatures", "ﬁﷺ"),
    ("private use", "\u{e000}\u{10fffd}"),
    ("special tokens", "[SEP]</s><s>[CLS]<mask>"),
    ("mask tokens and spaces", "<mask>  [MASK]  "),
    ("what tokens are written with", "▁Ġ##<0x0A>"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, family, sizes @ ..] = arguments.as_slice() else {
        panic!("expected DIRECTORY FAMILY [MEGABYTES…]");
    };
    let family = (0..8)
        .map(|repr| Family { repr })
        .find(|known| format!("{known:?}") == *family)
        .expect("FAMILY: Bert, Roberta, …");
    let tokenizer = Tokenizer::open(Path::new(directory), family, 512).expect("a tokenizer");
    for size in sizes {
        let bytes = (size.parse::<f64>().expect("MEGABYTES: a number") * 1e6) as usize;
        for (name, unit) in TEXTS {
            let text = unit.repeat(bytes / unit.len());
            let before = reset_peak();
            let start = processor_seconds();
            let encoding = tokenizer
                .encode(Input::from(text.as_str()))
                .expect("an encoding");
            let seconds = processor_seconds() - start;
            let memory = status("VmHWM:").saturating_sub(before) / 1024;
            let tokens = encoding.input_ids.len();
            println!("{name:30} {size:>4} MB {seconds:8.3} s {memory:5} MiB {tokens:4} tokens");
        }
    }
}

/// CPU time of this thread (Linux).
fn processor_seconds() -> f64 {
    let path = "/proc/thread-self/schedstat";
    let statistics = std::fs::read_to_string(path).expect("/proc/thread-self/schedstat");
    let first = statistics.split_whitespace().next();
    first
        .and_then(|ns| ns.parse::<f64>().ok())
        .expect("nanoseconds")
        / 1e9
}

/// Resets the memory peak and returns the resident memory in KiB (Linux).
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
