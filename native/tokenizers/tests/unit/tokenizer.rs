//! Early truncation returns the ids of the whole text.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{
    EncodeOptions, Encoding, Family, Input, Side, Tokenizer, Truncation, kept_ids,
    special_token_count, with_special_tokens,
};
use crate::early_truncation;

mod added_tokens;
mod offsets;
mod texts;
mod whole_text;

use texts::{Random, text};

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Fixtures without early truncation: a custom splitting expression, a tokenizer without word splits, an added token
/// with a space.
const NOT_TRUNCATED_EARLY: [&str; 3] = ["exported-qwen2", "bpe-with-bytes", "electra"];

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut directories = vec![root.join("models/sentiment")];
    for folder in ["models", "tokenizers"] {
        let entries = fs::read_dir(root.join("test/fixtures").join(folder)).expect("the fixtures");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        directories.extend(paths.filter(|path| path.join("config.json").exists()));
    }
    directories.sort();
    directories
}

fn family(directory: &Path) -> Family {
    match read(&directory.join("config.json"))["model_type"].as_str() {
        Some("data2vec-text" | "roberta") => Family::Roberta,
        Some("mpnet") => Family::Mpnet,
        Some("albert") => Family::Albert,
        Some("xlm-roberta") => Family::XlmRoberta,
        Some("camembert") => Family::Camembert,
        Some("deberta-v2") => Family::DebertaV2,
        Some("modernbert") => Family::TokenizerJson,
        _ => Family::Bert,
    }
}

/// Added tokens and similar texts, and parts of the vocabulary.
fn own_texts(tokenizer: &Tokenizer, random: &mut Random) -> Vec<String> {
    let mut own = Vec::new();
    for token in tokenizer.inner.get_added_tokens_decoder().into_values() {
        own.push(token.content.to_lowercase());
        own.push(token.content.chars().skip(1).collect());
        own.push(format!("  {}  ", token.content));
        own.push(token.content);
    }
    let mut vocab: Vec<String> = tokenizer.inner.get_vocab(false).into_keys().collect();
    vocab.sort();
    own.sort();
    let plain = |token: &String| token.replace("##", "").replace(['▁', 'Ġ'], " ");
    own.extend((0..40).map(|_| plain(random.of(&vocab))));
    own
}

/// All ids of a text, from the crate.
fn whole(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let encoding = tokenizer.inner.encode_fast(text, false);
    encoding.expect("an encoding").get_ids().to_vec()
}

/// Compares the ids of random texts. Returns the number of truncated texts.
fn compare(tokenizer: &Tokenizer, name: &str, random: &mut Random, texts: usize) -> usize {
    let own = own_texts(tokenizer, random);
    let mut count = 0;
    for _ in 0..texts {
        let size = *random.of(&[300, 1000, 3000, 9000]);
        let text = text(random, &own, size);
        let whole = whole(tokenizer, &text);
        for side in [Side::Start, Side::End] {
            let room = *random.of(&[1, 7, 30, 126, 510]);
            let size = *random.of(&[40, 100, 250]);
            let options = EncodeOptions {
                room,
                side,
                with_offsets: false,
            };
            let part = tokenizer.encode_by_slices(&text, options, size);
            let part = part.expect("no error");
            let ids = part.get_ids();
            let is_same = match side {
                _ if ids.len() <= room => ids == whole,
                Side::Start => whole.starts_with(ids),
                Side::End => whole.ends_with(ids),
            };
            assert!(is_same, "{name}: {side:?}, {room} of {text:?}");
            count += usize::from(
                early_truncation::safe_slice(&tokenizer.inner, &text, size, side).is_some(),
            );
        }
    }
    count
}

#[test]
fn both_sides_of_a_cut_give_the_ids_of_the_whole() {
    for directory in fixtures() {
        let tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("a tokenizer");
        let is_uncut = NOT_TRUNCATED_EARLY
            .iter()
            .any(|name| directory.ends_with(name));
        assert_eq!(tokenizer.truncates_early, !is_uncut, "{directory:?}");
        if is_uncut {
            continue;
        }
        let random = &mut Random(7_654_321);
        let own = own_texts(&tokenizer, random);
        let mut cuts = 0;
        for _ in 0..20 * rounds() {
            let text = text(random, &own, 60);
            let size = 20 + random.below(30);
            for side in [Side::Start, Side::End] {
                let Some(slice) = early_truncation::safe_slice(&tokenizer.inner, &text, size, side)
                else {
                    continue;
                };
                let (left, right) = text.split_at(match side {
                    Side::Start => slice.len(),
                    Side::End => text.len() - slice.len(),
                });
                let sides = [left, right].map(|side| whole(&tokenizer, side)).concat();
                assert_eq!(
                    sides,
                    whole(&tokenizer, &text),
                    "{directory:?}: {left:?} and {right:?}"
                );
                cuts += 1;
            }
        }
        println!("{}: {cuts} cuts", directory.display());
        assert!(cuts > rounds(), "{directory:?}: only {cuts} cuts");
    }
}

/// Normalized text of a tokenizer.
fn normalized_by(tokenizer: &tokenizers::Tokenizer, text: &str) -> String {
    early_truncation::normalized(tokenizer.get_normalizer(), text).expect("a text")
}

fn rounds() -> usize {
    // Run with more texts: EARLY_TRUNCATION_TEXTS=20000 cargo test --release
    let more = std::env::var("EARLY_TRUNCATION_TEXTS").ok();
    more.map_or(60, |more| {
        more.parse().expect("EARLY_TRUNCATION_TEXTS: a number")
    })
}

#[test]
fn cut_texts_give_the_ids_of_the_whole() {
    let all = fixtures();
    assert!(all.len() > 30, "{} fixtures", all.len());
    for directory in all {
        let tokenizer = Tokenizer::open(&directory, family(&directory), 512);
        let tokenizer = tokenizer.unwrap_or_else(|error| panic!("{directory:?}: {error}"));
        let name = directory.display().to_string();
        let cut = compare(&tokenizer, &name, &mut Random(20_260_101), rounds());
        println!("{name}: {cut} of {}", 2 * rounds());
        assert!(
            !tokenizer.truncates_early || 8 * cut > rounds(),
            "{name}: only {cut} texts were cut"
        );
    }
}

#[test]
fn ascii_words_give_the_ids_of_the_whole() {
    let mut compared = 0;
    for directory in fixtures() {
        let tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("a tokenizer");
        let Some(words) = &tokenizer.ascii_wordpiece else {
            continue;
        };
        let random = &mut Random(20_261_125);
        let own = own_texts(&tokenizer, random);
        let mut read = 0;
        for _ in 0..10 * rounds() {
            let text = text(random, &own, 80);
            let ids = words.ids(&tokenizer.inner, &text, usize::MAX);
            if let Some(ids) = ids.expect("no error") {
                assert_eq!(ids, whole(&tokenizer, &text), "{directory:?}: {text:?}");
                read += 1;
            }
        }
        assert!(4 * read > rounds(), "{directory:?}: only {read} texts");
        compared += 1;
    }
    assert!(compared > 5, "{compared} tokenizers of BERT");
}

#[test]
fn ascii_words_leave_added_tokens_and_long_words_to_the_model() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/sentiment");
    let tokenizer = Tokenizer::open(&root, Family::Bert, 512).expect("a tokenizer");
    let words = tokenizer.ascii_wordpiece.as_ref().expect("one of BERT");
    let ids = |text: &str, limit| words.ids(&tokenizer.inner, text, limit).expect("no error");
    assert_eq!(ids("good [SEP] film", usize::MAX), None);
    let long = ["a".repeat(64), "B".repeat(65), "c".repeat(101)].join(" ");
    assert_eq!(ids(&long, usize::MAX), Some(whole(&tokenizer, &long)));
    let film = whole(&tokenizer, "film");
    assert_eq!(
        ids("film FILM film", 2),
        Some([film.clone(), film].concat())
    );
}

/// Expected encoding of a pair, from the ids of both whole texts.
fn of_wholes(tokenizer: &Tokenizer, input: &Input, side: Side) -> Option<Encoding> {
    let template = tokenizer.templates.pair.as_ref().expect("a template");
    let texts = [input.text, input.pair.expect("a pair")];
    let whole = texts.map(|text| whole(tokenizer, text));
    let counts = [whole[0].len(), whole[1].len()];
    let room = tokenizer.max_length - special_token_count(template);
    let kept = input.truncation.kept_counts(counts, room).ok()?;
    Some(Encoding {
        truncated: kept != counts,
        ..with_special_tokens(template, [0, 1].map(|i| kept_ids(&whole[i], kept[i], side)))
    })
}

#[test]
fn cut_pairs_give_the_ids_of_the_whole() {
    let strategies = [
        Truncation::LongestFirst,
        Truncation::OnlyFirst,
        Truncation::OnlySecond,
        Truncation::DoNotTruncate,
    ];
    let mut cut = 0;
    for directory in fixtures() {
        let mut tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("one");
        let random = &mut Random(20_261_122);
        let own = own_texts(&tokenizer, random);
        let max = tokenizer.max_length;
        for _ in 0..rounds() / 6 {
            tokenizer.max_length = max.min(*random.of(&[12, 13, 40, 127, 128, 512]));
            let sizes = [100, 1000, 5000, 9000];
            let texts = [0, 1].map(|_| {
                let size = *random.of(&sizes);
                text(random, &own, size)
            });
            let side = *random.of(&[Side::Start, Side::End]);
            let input = Input {
                text: &texts[0],
                pair: Some(&texts[1]),
                truncation: *random.of(&strategies),
                kept_side: Some(side),
                ..Input::default()
            };
            let expected = of_wholes(&tokenizer, &input, side);
            let found = tokenizer.encode(input).ok();
            assert_eq!(found, expected, "{directory:?}: {input:?}");
            cut += usize::from(found.is_some_and(|found| found.truncated));
        }
    }
    assert!(cut > rounds(), "only {cut} pairs were cut");
}
