//! BertTokenizer and MPNetTokenizer.

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{AddedToken, Tokenizer};

use super::{Source, set_normalizer, vocabulary};
use crate::error::{Error, Result};

pub fn bert(source: &mut Source) -> Result<Tokenizer> {
    source.settings.special_tokens.set_defaults(&[
        ("unk_token", "[UNK]"),
        ("sep_token", "[SEP]"),
        ("pad_token", "[PAD]"),
        ("cls_token", "[CLS]"),
        ("mask_token", "[MASK]"),
    ]);
    build(source)
}

pub fn mpnet(source: &mut Source) -> Result<Tokenizer> {
    let special_tokens = &mut source.settings.special_tokens;
    let defaults = [
        ("bos_token", "<s>"),
        ("eos_token", "</s>"),
        ("sep_token", "</s>"),
        ("cls_token", "<s>"),
        ("unk_token", "[UNK]"),
        ("pad_token", "<pad>"),
        ("mask_token", "<mask>"),
    ];
    special_tokens.set_defaults(&defaults);
    for (key, _) in defaults {
        let strips = key == "mask_token";
        special_tokens.complete(key, |content| {
            AddedToken::from(content, false).lstrip(strips)
        });
    }
    build(source)
}

fn build(source: &Source) -> Result<Tokenizer> {
    let settings = &source.settings;
    let normalizer = BertNormalizer::new(
        true,
        settings.flag("tokenize_chinese_chars", true)?,
        settings.optional_flag("strip_accents")?,
        settings.flag("do_lower_case", true)?,
    );
    let (name, vocab) = vocabulary::word_piece(source)?;
    let unk_token = settings.special_tokens.standard("unk_token");
    let model = WordPiece::builder()
        .vocab(vocab)
        .unk_token(unk_token.unwrap_or_default().to_owned())
        .build()
        .map_err(|error| Error::in_file(name, error))?;
    let mut tokenizer = Tokenizer::new(model);
    set_normalizer(&mut tokenizer, normalizer.into())?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    Ok(tokenizer)
}
