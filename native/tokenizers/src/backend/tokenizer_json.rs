//! Builder of TokenizersBackend: tokenizer.json without changes, or a SentencePiece model (tokenizer.model) converted
//! as `build_tokenizer_from_spm_proto` of convert_slow_tokenizer.py does.

use std::collections::HashMap;

use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::sequence::Sequence as Decoders;
use tokenizers::models::bpe::BPE;
use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::Replace;
use tokenizers::{DecoderWrapper, ModelWrapper, NormalizerWrapper, Tokenizer};

use super::unigram_vocabulary::TOKENIZER_MODEL;
use super::{
    Source, bert_roberta, config_consistency, from_steps, regex_limits, templates,
    unigram_vocabulary,
};
use crate::files::TOKENIZER;
use crate::json::walk;
use crate::sentencepiece::{Model, charsmap};
use errors::{At, Result, anyhow, bail, catch_panic, ensure};

/// Opens tokenizer.json, or calls `build` if the file is absent.
pub fn open_or_build(
    source: &mut Source,
    build: impl FnOnce(&mut Source) -> Result<Tokenizer>,
) -> Result<Tokenizer> {
    match source.file {
        Some(_) => open(source),
        None => build(source),
    }
}

pub fn open(source: &mut Source) -> Result<Tokenizer> {
    if let Some((bytes, file)) = source.file {
        check_charsmaps(bytes).at(TOKENIZER)?;
        for key in ["normalizer", "pre_tokenizer"] {
            regex_limits::require_bounded_steps(key, file.get(key)).at(TOKENIZER)?;
        }
        templates::require_known_tokens(file)?;
        config_consistency::require(source, file)?;
        // The crate panics on some invalid files.
        let opened = catch_panic(|| from_bytes(bytes)).at(TOKENIZER)?;
        return opened.at(TOKENIZER);
    }
    if matches!(
        source.class.as_str(),
        "TokenizersBackend" | "PreTrainedTokenizer"
    ) {
        if let Some((name, model)) = unigram_vocabulary::open(source, TOKENIZER_MODEL)? {
            return from_model(source, model).at(name);
        }
    }
    let class = &source.class;
    bail!(
        "{TOKENIZER}: not found. It is needed for the tokenizer class `{class}`: load and save the \
         tokenizer with transformers to have it written"
    )
}

fn from_bytes(bytes: &[u8]) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None)?;
    // Some panics occur at the first text (FixedLength of 0). Errors are ignored: the vocabulary may lack these
    // letters.
    let _ = tokenizer.encode_fast("A trial, 1.", false);
    Ok(tokenizer)
}

/// Validates all compiled normalization rules in tokenizer.json before the crate reads them.
///
/// The crate recognizes rules by their key, with or without "type". If a key is repeated and its second value is null,
/// the crate uses the first one. Therefore, all occurrences are validated, at any location.
fn check_charsmaps(json: &[u8]) -> Result<()> {
    const KEY: &str = "precompiled_charsmap";
    let check = |encoded: &str| charsmap::check(&base64::decode(encoded)?);
    let mut all = Ok(());
    walk(json, false, &mut |key, text| {
        if key == KEY && all.is_ok() {
            all = check(text).at(format_args!("normalizer: {KEY}"));
        }
    })?;
    all
}

fn from_model(source: &mut Source, model: Model) -> Result<Tokenizer> {
    let special_tokens = &mut source.settings.special_tokens;
    let trainer = &model.trainer;
    for (key, id, piece) in [
        ("bos_token", trainer.bos_id(), trainer.bos_piece()),
        ("eos_token", trainer.eos_id(), trainer.eos_piece()),
        ("unk_token", trainer.unk_id(), trainer.unk_piece()),
        ("bos_token", 0, "<s>"),
        ("eos_token", 0, "</s>"),
    ] {
        if id >= 0 {
            special_tokens.set_default(key, piece);
        }
    }
    let marks = |from, to| Replace::new(from, to).map_err(|error| anyhow!("{error}"));
    let spaces = marks(" ", "▁")?;
    let rules = model.charsmap.clone().map(NormalizerWrapper::from);
    let steps = rules.into_iter().chain([spaces.into()]).collect();
    let mut decoders: Vec<DecoderWrapper> = vec![marks("▁", " ")?.into()];
    if trainer.byte_fallback() {
        decoders.extend([ByteFallback::new().into(), Fuse::new().into()]);
    }
    let decoder = Decoders::new(decoders);
    let model: ModelWrapper = if trainer.is_unigram() {
        unigram(source, model)?.into()
    } else {
        byte_pair(source, model)?.into()
    };
    from_steps(model, steps, vec![], decoder)
}

fn unigram(source: &Source, model: Model) -> Result<Unigram> {
    ensure!(
        source.settings.special_tokens.added().next().is_none(),
        "added tokens with ids are not supported for a Unigram model"
    );
    let unk_id = model.trainer.unk_id();
    let unk_id = usize::try_from(unk_id).map_err(|_| anyhow!("unk_id: {unk_id}"))?;
    let pieces = model.pieces.into_iter();
    let vocab = pieces.map(|piece| (piece.text, piece.score)).collect();
    Unigram::from(vocab, Some(unk_id), model.trainer.byte_fallback())
        .map_err(|error| anyhow!("{error}"))
}

fn byte_pair(source: &Source, model: Model) -> Result<BPE> {
    let pieces = model.pieces.iter().map(|piece| piece.text.as_str());
    let mut ids: HashMap<&str, u32> = pieces.zip(0..).collect();
    let merges = merges(&model, &ids)?;
    for (id, content) in source.settings.special_tokens.added() {
        // A placeholder piece takes the content of the added token with its id.
        let piece = usize::try_from(id).ok().and_then(|id| model.pieces.get(id));
        let piece = piece.map(|piece| piece.text.as_str());
        let id = piece.and_then(|piece| ids.get(piece)).copied();
        if let (Some(piece), Some(id), false) = (piece, id, ids.contains_key(content)) {
            ids.remove(piece);
            ids.insert(content, id);
        }
    }
    let vocab = ids.into_iter().map(|(piece, id)| (piece.to_owned(), id));
    let vocab = vocab.collect();
    bert_roberta::check_merges(TOKENIZER_MODEL, &vocab, &merges)?;
    BPE::builder()
        .vocab_and_merges(vocab, merges)
        .unk_token(model.trainer.unk_piece().to_owned())
        .fuse_unk(true)
        .byte_fallback(model.trainer.byte_fallback())
        .build()
        .map_err(|error| anyhow!("{error}"))
}

/// All pairs of pieces that together form a piece, in the order of the pieces.
fn merges(model: &Model, ids: &HashMap<&str, u32>) -> Result<Vec<(String, String)>> {
    /// Maximum length of a piece in bytes. All splits of a piece are tried.
    const MAX_LENGTH: usize = 4096;
    let mut merges = Vec::new();
    for (index, piece) in model.pieces.iter().enumerate() {
        let text = piece.text.as_str();
        let size = text.len();
        ensure!(
            size <= MAX_LENGTH,
            "pieces[{index}]: {size} bytes, expected at most {MAX_LENGTH}"
        );
        if ids.get(text).copied() != u32::try_from(index).ok() {
            continue; // replaced by a later piece with the same text
        }
        for (cut, _) in text.char_indices().skip(1) {
            let (left, right) = text.split_at(cut);
            if ids.contains_key(left) && ids.contains_key(right) {
                merges.push((left.to_owned(), right.to_owned()));
            }
        }
    }
    Ok(merges)
}
