//! RobertaTokenizer.

use tokenizers::Tokenizer;
use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::{Source, vocabulary};
use crate::error::{Error, Result};

/// Of RobertaTokenizer, XLMRobertaTokenizer and CamembertTokenizer.
pub const ROBERTA_TOKENS: [(&str, &str); 7] = [
    ("bos_token", "<s>"),
    ("eos_token", "</s>"),
    ("sep_token", "</s>"),
    ("cls_token", "<s>"),
    ("unk_token", "<unk>"),
    ("pad_token", "<pad>"),
    ("mask_token", "<mask>"),
];

pub fn roberta(source: &mut Source) -> Result<Tokenizer> {
    source.settings.special_tokens.set_defaults(&ROBERTA_TOKENS);
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
