//! The special tokens around a text.

use serde_json::Value;
use tokenizers::Tokenizer;

use super::TOKENIZER;
use crate::error::{Error, Result};
use crate::settings::Settings;

/// The special tokens around the content, each as (input id, token type id).
#[derive(Debug)]
pub struct Frame {
    pub prefix: Vec<(i64, i64)>,
    pub suffix: Vec<(i64, i64)>,
    pub content_type: i64,
}

/// These tokens before and after the content, all of token type 0.
pub fn around(
    tokenizer: &Tokenizer,
    settings: &Settings,
    before: &[&str],
    after: &[&str],
) -> Result<Frame> {
    let id = |key: &&str| {
        let token = settings.special_tokens.standard(key);
        let token = token.ok_or_else(|| Error::new(format!("{key}: there is none")))?;
        match tokenizer.token_to_id(token) {
            Some(id) => Ok((i64::from(id), 0)),
            None => Err(Error::new(format!("{key}: `{token}` has no id"))),
        }
    };
    Ok(Frame {
        prefix: before.iter().map(id).collect::<Result<_>>()?,
        suffix: after.iter().map(id).collect::<Result<_>>()?,
        content_type: 0,
    })
}

/// Whether tokenizer_config.json says which tokens to add: of effect only without tokenizer.json.
pub fn is_asked_for(settings: &Settings) -> bool {
    settings.has("add_bos_token") || settings.has("add_eos_token")
}

/// What `add_bos_token` and `add_eos_token` say.
pub fn as_asked_for(tokenizer: &Tokenizer, settings: &Settings) -> Result<Frame> {
    let chosen = |flag: &str, key: &'static str| {
        let wanted = settings.flag(flag, false)? && settings.special_tokens.standard(key).is_some();
        Ok(if wanted { vec![key] } else { vec![] })
    };
    let before = chosen("add_bos_token", "bos_token")?;
    let after = chosen("add_eos_token", "eos_token")?;
    around(tokenizer, settings, &before, &after)
}

/// The crate looks the tokens of a template up without asking whether they are there.
pub fn require_known_tokens(processor: &Value) -> Result<()> {
    let nested = processor["processors"].as_array();
    nested
        .into_iter()
        .flatten()
        .try_for_each(require_known_tokens)?;
    for part in processor["single"].as_array().into_iter().flatten() {
        let token = part["SpecialToken"]["id"].as_str();
        let known = |token: &str| processor["special_tokens"].get(token).is_some();
        if let Some(token) = token.filter(|token| !known(token)) {
            return Err(Error::in_file(
                TOKENIZER,
                format!("post_processor: special_tokens: there is no `{token}`"),
            ));
        }
    }
    Ok(())
}

/// What the post-processor of tokenizer.json puts around a text: asked of it with a text of one
/// token that no vocabulary has.
pub fn of_post_processor(tokenizer: &Tokenizer, settings: &Settings) -> Result<Frame> {
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
