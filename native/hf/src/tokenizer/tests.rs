//! What is read of a huge text gives the ids that the whole of it does.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokenizers::{Model, ModelWrapper, OffsetReferential, OffsetType, Token};

use super::{Encoding, Family, Input, Side, Tokenizer, Truncation, edge, framed};
use crate::cut;

mod texts;

use texts::{Random, text, word};

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Splits by a regular expression of its own, so that its texts are tokenized whole.
const UNCUT: &str = "exported-qwen2";

/// Of tokenizers whose texts can be cut.
fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut directories = vec![root.join("models/sentiment")];
    for folder in ["models", "tokenizers"] {
        let entries = fs::read_dir(root.join("test/fixtures").join(folder)).expect("the fixtures");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        directories.extend(paths.filter(|path| path.join("config.json").exists()));
    }
    directories.retain(|directory| !directory.ends_with(UNCUT));
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

/// Its added tokens and their neighbours, and some of its vocabulary.
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

/// How many texts could be cut; all of them are compared.
fn compare(tokenizer: &Tokenizer, name: &str, random: &mut Random, texts: usize) -> usize {
    let Some(cutting) = &tokenizer.cutting else {
        return 0;
    };
    let own = own_texts(tokenizer, random);
    let mut cut = 0;
    for _ in 0..texts {
        let size = *random.of(&[300, 1000, 3000, 9000]);
        let text = text(random, &own, size);
        let whole = cut::encode(&tokenizer.inner, &text).expect("an encoding");
        for side in [Side::Start, Side::End] {
            let room = *random.of(&[1, 7, 30, 126, 510]);
            let wanted = *random.of(&[40, 100, 400, 1500, 4096]);
            let ids = cutting.ids_of_parts(&tokenizer.inner, (&text, room, side), wanted);
            let Some(ids) = ids.expect("no error") else {
                continue;
            };
            cut += 1;
            let is_same = match side {
                _ if ids.len() <= room => ids == whole,
                Side::Start => whole.starts_with(&ids),
                Side::End => whole.ends_with(&ids),
            };
            assert!(is_same, "{name}: {side:?}, {room} of {text:?}");
        }
    }
    cut
}

type Item = (Option<u32>, String);

/// What added tokens and the normalizer make of a text: the tokens, and the texts between them.
fn items(tokenizer: &Tokenizer, text: &str) -> Vec<Item> {
    let added = tokenizer.inner.get_added_vocabulary();
    let split = added.extract_and_normalize(tokenizer.inner.get_normalizer(), text);
    let splits = split.get_splits(OffsetReferential::Original, OffsetType::None);
    let item = |text: &str, tokens: &Option<Vec<Token>>| match tokens {
        Some(tokens) => (Some(tokens[0].id), String::new()),
        None => (None, text.to_owned()),
    };
    let items = splits.iter().map(|(text, _, tokens)| item(text, tokens));
    items
        .filter(|(id, text)| id.is_some() || !text.is_empty())
        .collect()
}

/// The items of a part are the first (or last) of the whole, of whose next text it may have a part.
fn is_edge(part: &[Item], whole: &[Item], side: Side) -> bool {
    let (mut part, mut whole) = (part.to_vec(), whole.to_vec());
    if side == Side::End {
        part.reverse();
        whole.reverse();
    }
    let Some(((id, text), before)) = part.split_last() else {
        return true;
    };
    whole.starts_with(before)
        && whole.get(before.len()).is_some_and(|(other, longer)| {
            id == other
                && match side {
                    Side::Start => longer.starts_with(text),
                    Side::End => longer.ends_with(text),
                }
        })
}

/// What a seam promises, at the many seams of small texts.
#[test]
fn nothing_reaches_across_a_seam() {
    for directory in fixtures() {
        let tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("a tokenizer");
        let cutting = tokenizer.cutting.as_ref().expect("it can be cut");
        let random = &mut Random(7_654_321);
        let own = own_texts(&tokenizer, random);
        let mut seams = 0;
        for _ in 0..10 * rounds() {
            let text = text(random, &own, 40);
            let whole = items(&tokenizer, &text);
            for side in [Side::Start, Side::End] {
                let Some(part) = cutting.part(&text, side) else {
                    continue;
                };
                seams += 1;
                let is_edge = is_edge(&items(&tokenizer, part), &whole, side);
                assert!(is_edge, "{directory:?}: {side:?}: {part:?} of {text:?}");
            }
        }
        assert!(seams > rounds(), "{directory:?}: only {seams} seams");
    }
}

#[test]
fn what_is_certain_of_a_word_stays_when_it_goes_on() {
    for directory in fixtures() {
        let tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("a tokenizer");
        let model = tokenizer.inner.get_model();
        let mut alphabet: Vec<String> = model.get_vocab().into_keys().collect();
        alphabet.sort();
        let random = &mut Random(1_234_567);
        let ids = |text: &str| -> Vec<u32> {
            let tokens = model.tokenize(text).expect("tokens");
            tokens.iter().map(|token| token.id).collect()
        };
        let mut certain = 0;
        for _ in 0..10 * rounds() {
            let part = word(random, &alphabet, 64);
            let size = 1 + random.below(40);
            let rest = word(random, &alphabet, size);
            for (side, longer) in [
                (Side::Start, format!("{part}{rest}")),
                (Side::End, format!("{rest}{part}")),
            ] {
                let part_ids = cut::certain_of_word(model, &part, side);
                let part_ids = part_ids.expect("ids");
                certain += part_ids.len();
                let is_same = match side {
                    Side::Start => ids(&longer).starts_with(&part_ids),
                    Side::End => ids(&longer).ends_with(&part_ids),
                };
                assert!(is_same, "{directory:?}: {side:?}: {part:?} of {longer:?}");
            }
        }
        let is_piecewise = matches!(model, ModelWrapper::BPE(_) | ModelWrapper::Unigram(_));
        assert_eq!(certain > rounds(), is_piecewise, "{directory:?}: {certain}");
    }
}

fn rounds() -> usize {
    // More of them: HF_CUT_TEXTS=20000 cargo test --release
    let more = std::env::var("HF_CUT_TEXTS").ok();
    more.map_or(60, |more| more.parse().expect("HF_CUT_TEXTS: a number"))
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
        assert!(3 * cut > rounds(), "{name}: only {cut} texts were cut");
    }
}

/// From the whole of both texts.
fn of_wholes(tokenizer: &Tokenizer, input: &Input, side: Side) -> Option<Encoding> {
    let template = tokenizer.frame.pair.as_ref().expect("a template");
    let texts = [input.text, input.pair.expect("a pair")];
    let whole = texts.map(|text| cut::encode(&tokenizer.inner, text).expect("an encoding"));
    let counts = [whole[0].len(), whole[1].len()];
    let room = tokenizer.max_length - template.specials();
    let kept = input.truncation.kept(counts, room).ok()?;
    Some(Encoding {
        truncated: kept != counts,
        ..framed(template, [0, 1].map(|i| edge(&whole[i], kept[i], side)))
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
        let most = tokenizer.max_length;
        for _ in 0..rounds() / 6 {
            tokenizer.max_length = most.min(*random.of(&[12, 13, 40, 127, 128, 512]));
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
                kept: Some(side),
            };
            let expected = of_wholes(&tokenizer, &input, side);
            let found = tokenizer.encode(input).ok();
            assert_eq!(found, expected, "{directory:?}: {input:?}");
            cut += usize::from(found.is_some_and(|found| found.truncated));
        }
    }
    assert!(cut > rounds(), "only {cut} pairs were cut");
}
