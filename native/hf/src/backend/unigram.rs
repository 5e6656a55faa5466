//! AlbertTokenizer, XLMRobertaTokenizer, CamembertTokenizer and DebertaV2Tokenizer.

use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::normalizers::{Lowercase, NFC, NFKD, Precompiled, Replace, Strip, StripAccents};
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::punctuation::Punctuation;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
use tokenizers::tokenizer::normalizer::SplitDelimiterBehavior;
use tokenizers::{
    AddedToken, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer,
    normalizers,
};

use super::byte_pair::ROBERTA_TOKENS;
use super::pieces::{self, Pieces};
use super::{Source, TOKENIZER, frame, set_normalizer};
use crate::error::{Error, Result};

const XLM_ROBERTA_MODEL: &str = "sentencepiece.bpe.model";

pub fn albert(source: &mut Source) -> Result<Tokenizer> {
    source.settings.special_tokens.set_defaults(&[
        ("bos_token", "[CLS]"),
        ("eos_token", "[SEP]"),
        ("unk_token", "<unk>"),
        ("sep_token", "[SEP]"),
        ("pad_token", "<pad>"),
        ("cls_token", "[CLS]"),
        ("mask_token", "[MASK]"),
    ]);
    let pieces = pieces::read(source, "spiece.model")?;
    for key in ["cls_token", "sep_token"] {
        let token = special(source, key);
        if !pieces.vocab.iter().any(|(piece, _)| *piece == token) {
            return Err(Error::in_file(
                pieces.file,
                format!("{key}: `{token}` is not in the vocabulary"),
            ));
        }
    }
    let settings = &source.settings;
    let mut steps: Vec<NormalizerWrapper> = vec![
        replace("``".to_owned(), "\"")?,
        replace("''".to_owned(), "\"")?,
    ];
    if !settings.flag("keep_accents", false)? {
        steps.extend([NFKD.into(), StripAccents.into()]);
    }
    if settings.flag("do_lower_case", true)? {
        steps.push(Lowercase.into());
    }
    steps.extend(pieces.charsmap.clone().map(NormalizerWrapper::from));
    // The reference fixes this id; ALBERT vocabularies have <unk> there.
    let mut tokenizer = of_pieces(pieces, 1)?;
    set_normalizer(&mut tokenizer, normalizers::Sequence::new(steps).into())?;
    set_word_splitting(&mut tokenizer, source)?;
    if let Some((_, file)) = source.file {
        frame::require_known_tokens(file)?;
        let post_processor = file.get("post_processor").cloned();
        let post_processor: Option<PostProcessorWrapper> =
            serde_json::from_value(post_processor.unwrap_or_default())
                .map_err(|error| Error::in_file(TOKENIZER, format!("post_processor: {error}")))?;
        tokenizer.with_post_processor(post_processor);
    }
    Ok(tokenizer)
}

pub fn xlm_roberta(source: &mut Source) -> Result<Tokenizer> {
    source.settings.special_tokens.set_defaults(&ROBERTA_TOKENS);
    let mut pieces = pieces::read(source, XLM_ROBERTA_MODEL)?;
    if pieces.model.is_some() {
        // fairseq's ids: its own special tokens, the pieces without the model's first three, <mask>.
        let keys = ["bos_token", "pad_token", "eos_token", "unk_token"];
        let first = keys.map(|key| (special(source, key), 0.0));
        let mask = (special(source, "mask_token"), 0.0);
        let rest = pieces.vocab.into_iter().skip(3);
        pieces.vocab = first.into_iter().chain(rest).chain([mask]).collect();
    }
    // The reference fixes this id; XLM-RoBERTa vocabularies have <unk> there.
    sentence_piece(source, pieces, 3)
}

pub fn camembert(source: &mut Source) -> Result<Tokenizer> {
    let special_tokens = &mut source.settings.special_tokens;
    special_tokens.set_defaults(&ROBERTA_TOKENS);
    special_tokens.complete("mask_token", |mask| {
        AddedToken::from(mask, true).lstrip(true)
    });
    let mut pieces = pieces::read(source, XLM_ROBERTA_MODEL)?;
    let special_tokens = &mut source.settings.special_tokens;
    special_tokens.set_default_additional(&["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"]);
    if let Some(model) = pieces.model {
        if !model.is_unigram {
            return Err(Error::in_file(
                pieces.file,
                "not a Unigram model, which CamembertTokenizer needs",
            ));
        }
        let first = [
            ("<s>NOTUSED".to_owned(), 0.0),
            (special(source, "pad_token"), 0.0),
            ("</s>NOTUSED".to_owned(), 0.0),
            (special(source, "unk_token"), 0.0),
            ("<unk>NOTUSED".to_owned(), -100.0),
        ];
        let mask = (special(source, "mask_token"), 0.0);
        let rest = pieces.vocab.into_iter().skip(1);
        pieces.vocab = first.into_iter().chain(rest).chain([mask]).collect();
    }
    let unk_token = special(source, "unk_token");
    let unk_id = pieces
        .vocab
        .iter()
        .position(|(piece, _)| *piece == unk_token);
    sentence_piece(source, pieces, unk_id.unwrap_or(0))
}

pub fn deberta_v2(source: &mut Source) -> Result<Tokenizer> {
    source.settings.special_tokens.set_defaults(&[
        ("bos_token", "[CLS]"),
        ("eos_token", "[SEP]"),
        ("unk_token", "[UNK]"),
        ("sep_token", "[SEP]"),
        ("pad_token", "[PAD]"),
        ("cls_token", "[CLS]"),
        ("mask_token", "[MASK]"),
    ]);
    let pieces = pieces::read(source, "spm.model")?;
    let unk_id = deberta_v2_unk_id(source, &pieces)?;
    let mut tokenizer = of_pieces(pieces, unk_id)?;
    let settings = &source.settings;
    let mut steps: Vec<NormalizerWrapper> = Vec::new();
    if settings.flag("do_lower_case", false)? {
        steps.push(Lowercase.into());
    }
    let spaces = ReplacePattern::Regex(r"\s{2,}|[\n\r\t]".to_owned());
    steps.extend([
        replace(spaces, " ")?,
        NFC.into(),
        Strip::new(false, true).into(),
    ]);
    set_normalizer(&mut tokenizer, normalizers::Sequence::new(steps).into())?;
    let mut splitting: Vec<PreTokenizerWrapper> = Vec::new();
    if settings.flag("split_by_punct", false)? {
        splitting.push(Punctuation::new(SplitDelimiterBehavior::Isolated).into());
    }
    splitting.push(metaspace(source, PrependScheme::First)?);
    tokenizer.with_pre_tokenizer(Some(Sequence::new(splitting)));
    Ok(tokenizer)
}

fn deberta_v2_unk_id(source: &Source, pieces: &Pieces) -> Result<usize> {
    let unk_token = special(source, "unk_token");
    let mut vocab = pieces.vocab.iter();
    if let Some(id) = vocab.position(|(piece, score)| *piece == unk_token && *score == 0.0) {
        return Ok(id);
    }
    let id = match pieces.model {
        Some(model) => i64::from(model.unk_id),
        None => source.settings.id("unk_id")?.unwrap_or(1).into(),
    };
    usize::try_from(id).map_err(|_| {
        Error::in_file(
            pieces.file,
            format!("unk_id: {id}, and no piece `{unk_token}` with the score 0"),
        )
    })
}

/// What XLMRobertaTokenizer and CamembertTokenizer share.
fn sentence_piece(source: &Source, pieces: Pieces, unk_id: usize) -> Result<Tokenizer> {
    let charsmap: Option<Precompiled> = pieces.charsmap.clone();
    let mut tokenizer = of_pieces(pieces, unk_id)?;
    if let Some(charsmap) = charsmap {
        set_normalizer(&mut tokenizer, charsmap.into())?;
    }
    set_word_splitting(&mut tokenizer, source)?;
    Ok(tokenizer)
}

fn of_pieces(pieces: Pieces, unk_id: usize) -> Result<Tokenizer> {
    let model = Unigram::from(pieces.vocab, Some(unk_id), false)
        .map_err(|error| Error::in_file(pieces.file, error))?;
    Ok(Tokenizer::new(model))
}

fn set_word_splitting(tokenizer: &mut Tokenizer, source: &Source) -> Result<()> {
    tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![
        WhitespaceSplit.into(),
        metaspace(source, PrependScheme::Never)?,
    ])));
    Ok(())
}

/// `unprefixed`: where `add_prefix_space` is false.
fn metaspace(source: &Source, unprefixed: PrependScheme) -> Result<PreTokenizerWrapper> {
    let scheme = if source.settings.flag("add_prefix_space", true)? {
        PrependScheme::Always
    } else {
        unprefixed
    };
    Ok(Metaspace::new('▁', scheme, true).into())
}

fn replace(pattern: impl Into<ReplacePattern>, content: &str) -> Result<NormalizerWrapper> {
    match Replace::new(pattern, content) {
        Ok(replace) => Ok(replace.into()),
        Err(error) => Err(Error::in_file("normalizer", error)),
    }
}

fn special(source: &Source, key: &str) -> String {
    let token = source.settings.special_tokens.standard(key);
    token.unwrap_or_default().to_owned()
}
