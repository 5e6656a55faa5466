//! Builders of BertTokenizer, MPNetTokenizer and RobertaTokenizer. The vocabulary is the "model" of tokenizer.json,
//! otherwise the files of older releases.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::decoders::wordpiece::WordPiece as WordPieces;
use tokenizers::models::bpe::BPE;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::processors::roberta::RobertaProcessing;
use tokenizers::{AddedToken, Tokenizer};

use super::{Source, from_steps};
use crate::config::STANDARD;
use crate::files::{self, TOKENIZER};
use errors::{At, Result, anyhow, bail, ensure};

pub type Merges = Vec<(String, String)>;

/// Map type of the crate's builders. The crate that defines the type is not a dependency.
pub type Vocabulary = tokenizers::models::bpe::Vocab;

pub fn mpnet(source: &mut Source) -> Result<Tokenizer> {
    for key in STANDARD {
        let strips = key == "mask_token";
        let complete = |content: &str| AddedToken::from(content, false).lstrip(strips);
        source.settings.special_tokens.complete(key, complete);
    }
    let mut tokenizer = bert(source)?;
    tokenizer.with_post_processor(Some(trimming(true, false)));
    Ok(tokenizer)
}

/// Post-processor that removes white space from offsets, as RobertaProcessing does in addition to its templates.
fn trimming(trims: bool, add_prefix_space: bool) -> RobertaProcessing {
    let none = || (String::new(), 0);
    RobertaProcessing::new(none(), none())
        .trim_offsets(trims)
        .add_prefix_space(add_prefix_space)
}

pub fn bert(source: &mut Source) -> Result<Tokenizer> {
    let settings = &source.settings;
    let normalizer = BertNormalizer::new(
        true,
        settings.flag("tokenize_chinese_chars", true)?,
        settings.optional_flag("strip_accents")?,
        settings.flag("do_lower_case", true)?,
    );
    const LINES: &str = "vocab.txt";
    let (file, vocab) = if let Some(model) = model(source)? {
        (TOKENIZER, ids(TOKENIZER, "model.vocab", &model["vocab"])?)
    } else if let Some(bytes) = files::read(source.directory, LINES)? {
        let lines = files::lines(LINES, &bytes)?;
        let tokens = lines.map(|line| line.trim_end().to_owned());
        (LINES, tokens.zip(0..).collect())
    } else {
        bail!("{LINES}: not found (looked for {TOKENIZER}, {LINES})");
    };
    let unk_token = settings.special_tokens.standard("unk_token");
    let model = WordPiece::builder()
        .vocab(vocab)
        .unk_token(unk_token.unwrap_or_default().to_owned());
    let splitter = BertPreTokenizer.into();
    from_steps(
        model.build().at(file)?,
        vec![normalizer.into()],
        vec![splitter],
        WordPieces::new("##".to_owned(), true),
    )
}

pub fn roberta(source: &mut Source) -> Result<Tokenizer> {
    let add_prefix_space = source.settings.flag("add_prefix_space", false)?;
    let (file, vocab, merges) = byte_pair(source)?;
    let model = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .continuing_subword_prefix(String::new())
        .end_of_word_suffix(String::new());
    let bytes = ByteLevel::new(add_prefix_space, true, true);
    let model = model.build().at(file)?;
    let mut tokenizer = from_steps(model, vec![], vec![bytes.into()], bytes)?;
    let trims = source.settings.flag("trim_offsets", true)?;
    tokenizer.with_post_processor(Some(trimming(trims, add_prefix_space)));
    Ok(tokenizer)
}

/// Returns file name, vocabulary and merges.
fn byte_pair(source: &Source) -> Result<(&'static str, Vocabulary, Merges)> {
    const VOCAB: &str = "vocab.json";
    const MERGES: &str = "merges.txt";
    let (file, vocab, merges) = if let Some(model) = model(source)? {
        let vocab = ids(TOKENIZER, "model.vocab", &model["vocab"])?;
        (TOKENIZER, vocab, merges(&model["merges"])?)
    } else {
        let vocab = files::read_object(source.directory, VOCAB)?;
        let merges = files::read(source.directory, MERGES)?;
        let (vocab, merges) = match (vocab, merges) {
            (Some(vocab), Some(merges)) => (Value::Object(vocab), merges),
            (vocab, merges) => {
                let names = [
                    vocab.is_none().then_some(VOCAB),
                    merges.is_none().then_some(MERGES),
                ];
                let absent: Vec<_> = names.into_iter().flatten().collect();
                bail!(
                    "{}: not found (looked for {TOKENIZER}, or {VOCAB} and {MERGES})",
                    absent.join(" and ")
                );
            }
        };
        let lines = files::lines(MERGES, &merges)?.enumerate();
        let merges = lines.filter(|(_, line)| !line.starts_with("#version"));
        let merges = merges.map(|(index, line)| {
            let problem = "expected two tokens with one space between them";
            pair(line).ok_or_else(|| anyhow!("{MERGES}: line {}: {problem}", index + 1))
        });
        let merges = merges.collect::<Result<_>>()?;
        (MERGES, ids(VOCAB, "top level", &vocab)?, merges)
    };
    check_merges(file, &vocab, &merges)?;
    Ok((file, vocab, merges))
}

/// Fails if the result of a merge is not in the vocabulary. The crate would panic on some such files.
pub fn check_merges(file: &str, vocab: &Vocabulary, merges: &Merges) -> Result<()> {
    for (left, right) in merges {
        ensure!(
            vocab.contains_key(&format!("{left}{right}")),
            "{file}: merge `{left} {right}`: its result is not in the vocabulary"
        );
    }
    Ok(())
}

/// "model" of tokenizer.json, if the file is present.
pub fn model<'a>(source: &Source<'a>) -> Result<Option<&'a Value>> {
    let Some((_, file)) = source.file else {
        return Ok(None);
    };
    let model = file.get("model").filter(|model| model.is_object());
    ensure!(model.is_some(), "{TOKENIZER}: model: expected an object");
    Ok(model)
}

fn ids(file: &str, key: &str, vocab: &Value) -> Result<Vocabulary> {
    let Some(object) = vocab.as_object() else {
        bail!("{file}: {key}: expected an object of token ids");
    };
    let ids = object.iter().map(|(token, id)| {
        let id = u32::deserialize(id);
        let id = id.map_err(|_| anyhow!("{file}: {key}: `{token}`: expected a token id"))?;
        Ok((token.clone(), id))
    });
    ids.collect()
}

fn merges(value: &Value) -> Result<Merges> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Merge {
        Line(String),
        Pair(String, String),
    }
    let merges = Vec::deserialize(value).ok();
    let pairs = merges.and_then(|merges| {
        let pairs = merges.into_iter().map(|merge| match merge {
            Merge::Line(line) => pair(&line),
            Merge::Pair(left, right) => Some((left, right)),
        });
        pairs.collect()
    });
    let problem = "model.merges: expected \"a b\" strings or [\"a\", \"b\"] pairs";
    pairs.ok_or_else(|| anyhow!("{TOKENIZER}: {problem}"))
}

fn pair(line: &str) -> Option<(String, String)> {
    let (left, right) = line.split_once(' ')?;
    (!right.contains(' ')).then(|| (left.to_owned(), right.to_owned()))
}
