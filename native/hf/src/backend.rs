//! Builds the tokenizer of a class as transformers 5.23 builds it (`__init__` of the classes in
//! models/{bert,roberta,xlm_roberta,camembert}/tokenization_*.py).

use serde_json::{Map, Value};
use std::path::Path;

use tokenizers::models::bpe::BPE;
use tokenizers::models::unigram::Unigram;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
use tokenizers::{AddedToken, NormalizerWrapper, Tokenizer};

use crate::class::Class;
use crate::error::{Error, Result};
use crate::files;
use crate::settings::Settings;

mod vocabulary;

const TOKENIZER: &str = "tokenizer.json";

pub struct Backend {
    pub tokenizer: Tokenizer,
    pub frame: Frame,
    /// Text is split at white space before anything else, so that what stands before a space is
    /// encoded the same whatever comes after it.
    pub splits_at_spaces: bool,
}

/// The special tokens around the content, each as (input id, token type id).
#[derive(Debug)]
pub struct Frame {
    pub prefix: Vec<(i64, i64)>,
    pub suffix: Vec<(i64, i64)>,
    pub content_type: i64,
}

/// What a tokenizer is built from.
pub struct Source<'a> {
    pub directory: &'a Path,
    /// tokenizer.json, where there is one.
    pub file: Option<(&'a [u8], &'a Map<String, Value>)>,
    pub settings: Settings,
}

pub fn build(mut source: Source, class: &Class) -> Result<Backend> {
    let mut tokenizer = match class {
        Class::Bert => bert(&mut source)?,
        Class::Roberta => roberta(&mut source)?,
        Class::XlmRoberta => xlm_roberta(&mut source)?,
        Class::Camembert => camembert(&mut source)?,
        Class::File { name } => from_file(&source, name)?,
    };
    let settings = &source.settings;
    let added = tokenizer.get_added_tokens_decoder();
    let known: Vec<String> = added.into_values().map(|token| token.content).collect();
    tokenizer
        .add_tokens(settings.tokens_to_add(&known))
        .map_err(|error| Error::in_file("added tokens", error))?;
    tokenizer.set_encode_special_tokens(settings.flag("split_special_tokens", false)?);
    let frame = match class {
        Class::Bert | Class::Roberta => fixed_frame(&tokenizer, settings, "cls_token", "sep_token"),
        Class::XlmRoberta | Class::Camembert => {
            fixed_frame(&tokenizer, settings, "bos_token", "eos_token")
        }
        Class::File { .. } => frame_of_file(&tokenizer, settings),
    }?;
    Ok(Backend {
        splits_at_spaces: !matches!(class, Class::File { .. }),
        tokenizer,
        frame,
    })
}

fn special(content: &str) -> AddedToken {
    AddedToken::from(content, true)
}

fn bert(source: &mut Source) -> Result<Tokenizer> {
    source.settings.set_defaults(&[
        ("unk_token", special("[UNK]")),
        ("sep_token", special("[SEP]")),
        ("pad_token", special("[PAD]")),
        ("cls_token", special("[CLS]")),
        ("mask_token", special("[MASK]")),
    ]);
    let settings = &source.settings;
    let normalizer = BertNormalizer::new(
        true,
        settings.flag("tokenize_chinese_chars", true)?,
        settings.optional_flag("strip_accents")?,
        settings.flag("do_lower_case", true)?,
    );
    let (name, vocab) = vocabulary::word_piece(source)?;
    let unk_token = settings
        .named("unk_token")
        .map(|token| token.content.clone());
    let model = WordPiece::builder()
        .vocab(vocab)
        .unk_token(unk_token.unwrap_or_default())
        .build()
        .map_err(|error| Error::in_file(name, error))?;
    let mut tokenizer = Tokenizer::new(model);
    set_normalizer(&mut tokenizer, normalizer.into())?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    Ok(tokenizer)
}

fn roberta_tokens(mask_token: AddedToken) -> [(&'static str, AddedToken); 7] {
    [
        ("bos_token", special("<s>")),
        ("eos_token", special("</s>")),
        ("sep_token", special("</s>")),
        ("cls_token", special("<s>")),
        ("unk_token", special("<unk>")),
        ("pad_token", special("<pad>")),
        ("mask_token", mask_token),
    ]
}

fn roberta(source: &mut Source) -> Result<Tokenizer> {
    source
        .settings
        .set_defaults(&roberta_tokens(special("<mask>")));
    let add_prefix_space = source.settings.flag("add_prefix_space", false)?;
    let (name, vocab, merges) = vocabulary::byte_pair(source)?;
    let model = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .continuing_subword_prefix(String::new())
        .end_of_word_suffix(String::new())
        .build()
        .map_err(|error| Error::in_file(name, error))?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_pre_tokenizer(Some(ByteLevel::new(add_prefix_space, true, true)));
    Ok(tokenizer)
}

fn xlm_roberta(source: &mut Source) -> Result<Tokenizer> {
    source
        .settings
        .set_defaults(&roberta_tokens(special("<mask>")));
    let vocab = vocabulary::unigram(source)?;
    // The reference fixes this id; XLM-RoBERTa vocabularies have <unk> there.
    sentence_piece(source, vocab, 3)
}

fn camembert(source: &mut Source) -> Result<Tokenizer> {
    let settings = &mut source.settings;
    settings.set_defaults(&roberta_tokens(special("<mask>").lstrip(true)));
    settings.set_default_extra(&["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"]);
    let vocab = vocabulary::unigram(source)?;
    let unk_token = source
        .settings
        .named("unk_token")
        .map(|token| &token.content);
    let unk_id = vocab.iter().position(|(token, _)| Some(token) == unk_token);
    sentence_piece(source, vocab, unk_id.unwrap_or(0))
}

fn sentence_piece(source: &Source, vocab: Vec<(String, f64)>, unk_id: usize) -> Result<Tokenizer> {
    let model = Unigram::from(vocab, Some(unk_id), false)
        .map_err(|error| Error::in_file(TOKENIZER, error))?;
    let mut tokenizer = Tokenizer::new(model);
    if let Some(normalizer) = vocabulary::precompiled_normalizer(source)? {
        set_normalizer(&mut tokenizer, normalizer)?;
    }
    let scheme = if source.settings.flag("add_prefix_space", true)? {
        PrependScheme::Always
    } else {
        PrependScheme::Never
    };
    tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![
        WhitespaceSplit.into(),
        Metaspace::new('▁', scheme, true).into(),
    ])));
    Ok(tokenizer)
}

fn set_normalizer(tokenizer: &mut Tokenizer, normalizer: NormalizerWrapper) -> Result<()> {
    tokenizer
        .with_normalizer(Some(normalizer))
        .map_err(|error| Error::in_file("normalizer", error))?;
    Ok(())
}

fn from_file(source: &Source, class: &str) -> Result<Tokenizer> {
    let Some((bytes, _)) = source.file else {
        return Err(Error::new(format!(
            "{TOKENIZER}: not found. It is needed for the tokenizer class `{class}`; without it \
             only BertTokenizer (vocab.txt) and RobertaTokenizer (vocab.json, merges.txt) are \
             supported"
        )));
    };
    let mut tokenizer =
        Tokenizer::from_bytes(bytes).map_err(|error| Error::in_file(TOKENIZER, error))?;
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(None)
        .map_err(|error| Error::in_file(TOKENIZER, error))?;
    Ok(tokenizer)
}

/// One token before the content, one after it, all of token type 0.
fn fixed_frame(
    tokenizer: &Tokenizer,
    settings: &Settings,
    first: &str,
    last: &str,
) -> Result<Frame> {
    let id = |key: &str| {
        let token = settings.named(key).map_or("", |token| &token.content);
        match tokenizer.token_to_id(token) {
            Some(id) => Ok((i64::from(id), 0)),
            None => Err(Error::new(format!("{key}: `{token}` has no id"))),
        }
    };
    Ok(Frame {
        prefix: vec![id(first)?],
        suffix: vec![id(last)?],
        content_type: 0,
    })
}

/// What the post-processor of tokenizer.json puts around a text: asked of it with a text of one
/// token that no vocabulary has.
fn frame_of_file(tokenizer: &Tokenizer, settings: &Settings) -> Result<Frame> {
    const CONTENT: i64 = u32::MAX as i64;
    let content = tokenizers::Token::new(u32::MAX, String::new(), (0, 0));
    let encoding = tokenizers::Encoding::from_tokens(vec![content], 0);
    let framed = tokenizer
        .post_process(encoding, None, true)
        .map_err(|error| Error::in_file(TOKENIZER, format!("post_processor: {error}")))?;
    let typed = settings.names_token_type_ids();
    let pairs: Vec<(i64, i64)> = framed
        .get_ids()
        .iter()
        .zip(framed.get_type_ids())
        .map(|(id, kind)| (i64::from(*id), if typed { i64::from(*kind) } else { 0 }))
        .collect();
    let position = pairs.iter().position(|(id, _)| *id == CONTENT);
    let repeated = pairs.iter().filter(|(id, _)| *id == CONTENT).count() > 1;
    match position {
        Some(position) if !repeated => Ok(Frame {
            prefix: pairs[..position].to_vec(),
            suffix: pairs[position + 1..].to_vec(),
            content_type: pairs[position].1,
        }),
        _ => Err(Error::in_file(
            TOKENIZER,
            "post_processor: expected one that keeps the text once",
        )),
    }
}
