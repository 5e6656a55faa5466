//! RobertaTokenizer.

use tokenizers::Tokenizer;
use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::{Source, of_steps, vocabulary};
use crate::error::{At, Result};

pub fn roberta(source: &mut Source) -> Result<Tokenizer> {
    let add_prefix_space = source.settings.flag("add_prefix_space", false)?;
    let (name, vocab, merges) = vocabulary::byte_pair(source)?;
    let model = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .continuing_subword_prefix(String::new())
        .end_of_word_suffix(String::new());
    let splitter = ByteLevel::new(add_prefix_space, true, true);
    of_steps(model.build().at(name)?, vec![], vec![splitter.into()])
}
