//! Fuzz target of tokenizer folders. A folder is rejected, or its tokenizer encodes texts.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::checked::Tokenizer;
use crate::bridge::Family;

/// Permitted file names in the input.
const NAMES: [&str; 11] = [
    "tokenizer.json",
    "tokenizer_config.json",
    "config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "spiece.model",
    "text",
];
/// Size in bytes from which texts are truncated early.
const LONG: usize = 4200;
const MARK: &[u8] = b"\n=== ";

pub struct Files<'a> {
    pub family: Family,
    pub files: Vec<(&'static str, &'a [u8])>,
    /// Text to encode.
    pub text: &'a [u8],
}

/// The input is a digit for the family, then files: `\n=== tokenizer.json\n`, the content, the next file. The entry
/// `text` is the text to encode.
pub fn tokenizer_files(data: &[u8]) {
    if let Some(files) = split(data) {
        open(&files);
    }
}

fn split(data: &[u8]) -> Option<Files<'_>> {
    let (family, mut rest) = data.split_first()?;
    let mut files = Files {
        family: Family {
            repr: family.wrapping_sub(b'0') % 8,
        },
        files: Vec::new(),
        text: b"It is. ",
    };
    while let Some(start) = find(rest, MARK) {
        rest = &rest[start + MARK.len()..];
        let name_end = find(rest, b"\n")?;
        let name = NAMES
            .iter()
            .find(|name| name.as_bytes() == &rest[..name_end])?;
        rest = &rest[name_end + 1..];
        let content = &rest[..find(rest, MARK).unwrap_or(rest.len())];
        match *name {
            "text" => files.text = content,
            name => files.files.push((name, content)),
        }
    }
    Some(files)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

pub fn open(files: &Files) {
    let directory = Directory::with(&files.files);
    let opened = Tokenizer::open(&directory.0, files.family, usize::MAX);
    drop(directory);
    let mut tokenizer = match opened {
        Ok(tokenizer) => tokenizer,
        Err(message) => {
            assert_no_panic(&message);
            return;
        }
    };
    let long = files.text.repeat(LONG / files.text.len().max(1) + 1);
    let texts = [files.text, b"", b"\xff\0 a", &long];
    let wholes = texts.map(|text| tokenizer.encode(text));
    if let Err(message) = tokenizer.limit_positions(9) {
        assert!(message.contains("leave no room"), "{message}");
        return;
    }
    for (text, whole) in texts.iter().zip(wholes) {
        match whole {
            Ok(whole) => {
                let some = tokenizer.encode(text).expect("the whole could be encoded");
                let fits = whole.input_ids.len() <= tokenizer.max_length();
                assert_eq!(some.truncated, whole.truncated || !fits);
                assert!(!fits || some == whole);
            }
            Err(message) => assert_no_panic(&message),
        }
    }
}

fn assert_no_panic(message: &str) {
    assert!(!message.starts_with("internal error"), "{message}");
}

/// A temporary folder, removed on drop.
struct Directory(PathBuf);

impl Directory {
    fn with(files: &[(&str, &[u8])]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hf-fuzz-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        for (name, content) in files {
            fs::write(path.join(name), content).expect("a written file");
        }
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
