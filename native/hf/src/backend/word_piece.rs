//! BertTokenizer and MPNetTokenizer.

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{AddedToken, Tokenizer};

use super::{Source, of_steps, vocabulary};
use crate::error::{At, Result};
use crate::settings::STANDARD;

pub fn mpnet(source: &mut Source) -> Result<Tokenizer> {
    for key in STANDARD {
        let strips = key == "mask_token";
        let complete = |content: &str| AddedToken::from(content, false).lstrip(strips);
        source.settings.special_tokens.complete(key, complete);
    }
    bert(source)
}

pub fn bert(source: &mut Source) -> Result<Tokenizer> {
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
        .unk_token(unk_token.unwrap_or_default().to_owned());
    let splitter = BertPreTokenizer.into();
    of_steps(
        model.build().at(name)?,
        vec![normalizer.into()],
        vec![splitter],
    )
}
