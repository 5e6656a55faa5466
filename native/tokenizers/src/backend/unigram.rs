//! Builders of AlbertTokenizer, XLMRobertaTokenizer, CamembertTokenizer and DebertaV2Tokenizer.

use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::{Lowercase, NFC, NFKD, Strip, StripAccents};
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::punctuation::Punctuation;
use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
use tokenizers::tokenizer::normalizer::SplitDelimiterBehavior;
use tokenizers::{
    AddedToken, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer,
};

use super::unigram_vocabulary::{self, UnigramVocabulary};
use super::{Source, from_steps, templates};
use crate::early_truncation::{QUOTES, SPACES};
use crate::files::TOKENIZER;
use errors::{At, Result, anyhow, ensure};

const XLM_ROBERTA_MODEL: &str = "sentencepiece.bpe.model";

pub fn albert(source: &mut Source) -> Result<Tokenizer> {
    let pieces = unigram_vocabulary::read(source, "spiece.model")?;
    for key in ["cls_token", "sep_token"] {
        let token = special(source, key);
        ensure!(
            pieces.vocab.iter().any(|(piece, _)| *piece == token),
            "{}: {key}: `{token}` is not in the vocabulary",
            pieces.file
        );
    }
    let settings = &source.settings;
    let mut steps: Vec<NormalizerWrapper> = QUOTES.iter().cloned().map(Into::into).collect();
    if !settings.flag("keep_accents", false)? {
        steps.extend([NFKD.into(), StripAccents.into()]);
    }
    if settings.flag("do_lower_case", true)? {
        steps.push(Lowercase.into());
    }
    // transformers uses this fixed id. It is the id of <unk> in ALBERT vocabularies.
    let mut tokenizer = from_pieces(source, pieces, 1, steps)?;
    if let Some((_, file)) = source.file {
        templates::require_known_tokens(file)?;
        let post_processor = file.get("post_processor").cloned();
        let post_processor: Option<PostProcessorWrapper> =
            serde_json::from_value(post_processor.unwrap_or_default())
                .map_err(|error| anyhow!("{TOKENIZER}: post_processor: {error}"))?;
        tokenizer.with_post_processor(post_processor);
    }
    Ok(tokenizer)
}

pub fn xlm_roberta(source: &mut Source) -> Result<Tokenizer> {
    let mut pieces = unigram_vocabulary::read(source, XLM_ROBERTA_MODEL)?;
    if pieces.model.is_some() {
        let keys = ["bos_token", "pad_token", "eos_token", "unk_token"];
        let first = keys.map(|key| (special(source, key), 0.0));
        pieces.vocab = fairseq(source, pieces.vocab, 3, first);
    }
    // transformers uses this fixed id. It is the id of <unk> in XLM-RoBERTa vocabularies.
    from_pieces(source, pieces, 3, vec![])
}

pub fn camembert(source: &mut Source) -> Result<Tokenizer> {
    let special_tokens = &mut source.settings.special_tokens;
    special_tokens.complete("mask_token", |mask| {
        AddedToken::from(mask, true).lstrip(true)
    });
    let mut pieces = unigram_vocabulary::read(source, XLM_ROBERTA_MODEL)?;
    let special_tokens = &mut source.settings.special_tokens;
    special_tokens.set_default_additional(&["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"]);
    let unk_token = special(source, "unk_token");
    if let Some(model) = &pieces.model {
        ensure!(
            model.trainer.is_unigram(),
            "{}: not a Unigram model, which CamembertTokenizer needs",
            pieces.file
        );
        let first = [
            ("<s>NOTUSED".to_owned(), 0.0),
            (special(source, "pad_token"), 0.0),
            ("</s>NOTUSED".to_owned(), 0.0),
            (unk_token.clone(), 0.0),
            ("<unk>NOTUSED".to_owned(), -100.0),
        ];
        pieces.vocab = fairseq(source, pieces.vocab, 1, first);
    }
    let mut vocab = pieces.vocab.iter();
    let unk_id = vocab.position(|(piece, _)| *piece == unk_token);
    from_pieces(source, pieces, unk_id.unwrap_or(0), vec![])
}

/// Vocabulary in fairseq's order: its special tokens, the pieces without the model's first ones, <mask>.
fn fairseq<const N: usize>(
    source: &Source,
    vocab: Vec<(String, f64)>,
    skipped: usize,
    first: [(String, f64); N],
) -> Vec<(String, f64)> {
    let mask = (special(source, "mask_token"), 0.0);
    let rest = vocab.into_iter().skip(skipped);
    first.into_iter().chain(rest).chain([mask]).collect()
}

pub fn deberta_v2(source: &mut Source) -> Result<Tokenizer> {
    let pieces = unigram_vocabulary::read(source, "spm.model")?;
    let unk_id = deberta_v2_unk_id(source, &pieces)?;
    let model = Unigram::from(pieces.vocab, Some(unk_id), false).at(pieces.file)?;
    let settings = &source.settings;
    let mut steps: Vec<NormalizerWrapper> = Vec::new();
    if settings.flag("do_lower_case", false)? {
        steps.push(Lowercase.into());
    }
    let trailing = Strip::new(false, true);
    steps.extend([SPACES.clone().into(), NFC.into(), trailing.into()]);
    let mut splitting: Vec<PreTokenizerWrapper> = Vec::new();
    if settings.flag("split_by_punct", false)? {
        splitting.push(Punctuation::new(SplitDelimiterBehavior::Isolated).into());
    }
    let marks = metaspace(source, PrependScheme::First)?;
    splitting.push(marks.clone().into());
    from_steps(model, steps, splitting, marks)
}

fn deberta_v2_unk_id(source: &Source, pieces: &UnigramVocabulary) -> Result<usize> {
    let unk_token = special(source, "unk_token");
    let mut vocab = pieces.vocab.iter();
    if let Some(id) = vocab.position(|(piece, score)| *piece == unk_token && *score == 0.0) {
        return Ok(id);
    }
    let id = match &pieces.model {
        Some(model) => i64::from(model.trainer.unk_id()),
        None => source.settings.id("unk_id")?.unwrap_or(1).into(),
    };
    usize::try_from(id).map_err(|_| {
        let file = pieces.file;
        anyhow!("{file}: unk_id: {id}, and no piece `{unk_token}` with the score 0")
    })
}

/// Builds a Unigram tokenizer. `steps`: normalizers before the normalizer of the model.
fn from_pieces(
    source: &Source,
    pieces: UnigramVocabulary,
    unk_id: usize,
    mut steps: Vec<NormalizerWrapper>,
) -> Result<Tokenizer> {
    let model = Unigram::from(pieces.vocab, Some(unk_id), false).at(pieces.file)?;
    steps.extend(pieces.charsmap.map(Into::into));
    let marks = metaspace(source, PrependScheme::Never)?;
    let splitting = vec![WhitespaceSplit.into(), marks.clone().into()];
    from_steps(model, steps, splitting, marks)
}

/// Metaspace with the configured prefix scheme. `unprefixed`: scheme if `add_prefix_space` is false.
fn metaspace(source: &Source, unprefixed: PrependScheme) -> Result<Metaspace> {
    let scheme = if source.settings.flag("add_prefix_space", true)? {
        PrependScheme::Always
    } else {
        unprefixed
    };
    Ok(Metaspace::new('▁', scheme, true))
}

fn special(source: &Source, key: &str) -> String {
    let token = source.settings.special_tokens.standard(key);
    token.unwrap_or_default().to_owned()
}
