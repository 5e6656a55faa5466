//! Templates: the special tokens around one text and around a pair.

use serde_json::{Map, Value};
use tokenizers::{Encoding, Token, Tokenizer};

use crate::config::TokenizerConfig;
use crate::files::TOKENIZER;
use errors::{Result, anyhow, bail};

/// Templates of a tokenizer.
#[derive(Debug)]
pub struct Templates {
    pub single: Template,
    /// `None`: the tokenizer does not support pairs.
    pub pair: Option<Template>,
}

/// A part of a template, with its token type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Id and token type of a special token.
    Id(i64, i64),
    /// Tokens of a text (0: first, 1: second), and their token type.
    Text(usize, i64),
}

/// Parts in order. Each text occurs once.
pub type Template = Vec<Part>;

/// Number of special tokens.
pub fn special_token_count(template: &[Part]) -> usize {
    let is_special = |part: &&Part| matches!(part, Part::Id(..));
    template.iter().filter(is_special).count()
}

impl Templates {
    /// Sets all token types to 0, for a model without token types.
    pub fn clear_types(&mut self) {
        for part in self.single.iter_mut().chain(self.pair.iter_mut().flatten()) {
            let (Part::Id(_, kind) | Part::Text(_, kind)) = part;
            *kind = 0;
        }
    }
}

/// Builds templates from the notation of transformers, with keys of special tokens: `cls_token $A sep_token $B:1
/// sep_token:1`. The default token type is 0.
pub fn from_keys(
    tokenizer: &Tokenizer,
    settings: &TokenizerConfig,
    [single, pair]: [&str; 2],
) -> Result<Templates> {
    let part = |written: &str| {
        let (key, kind) = match written.strip_suffix(":1") {
            Some(key) => (key, 1),
            None => (written, 0),
        };
        match key {
            "$A" => return Ok(Part::Text(0, kind)),
            "$B" => return Ok(Part::Text(1, kind)),
            _ => {}
        }
        let Some(token) = settings.special_tokens.standard(key) else {
            bail!("{key}: there is none");
        };
        match tokenizer.token_to_id(token) {
            Some(id) => Ok(Part::Id(i64::from(id), kind)),
            None => bail!("{key}: `{token}` has no id"),
        }
    };
    let template = |written: &str| written.split_whitespace().map(part).collect::<Result<_>>();
    Ok(Templates {
        single: template(single)?,
        pair: Some(template(pair)?),
    })
}

/// True if tokenizer_config.json selects the special tokens. Only used without tokenizer.json.
pub fn adds_bos_or_eos(settings: &TokenizerConfig) -> bool {
    settings.has("add_bos_token") || settings.has("add_eos_token")
}

/// Builds templates from `add_bos_token` and `add_eos_token`.
pub fn from_bos_eos_flags(tokenizer: &Tokenizer, settings: &TokenizerConfig) -> Result<Templates> {
    let chosen = |flag: &str, key: &'static str| -> Result<&str> {
        let wanted = settings.flag(flag, false)? && settings.special_tokens.standard(key).is_some();
        Ok(if wanted { key } else { "" })
    };
    let before = chosen("add_bos_token", "bos_token")?;
    let after = chosen("add_eos_token", "eos_token")?;
    let single = format!("{before} $A {after}");
    let second = format!("{before} $B {after}");
    let second: Vec<_> = second
        .split_whitespace()
        .map(|key| format!("{key}:1"))
        .collect();
    let pair = format!("{single} {}", second.join(" "));
    from_keys(tokenizer, settings, [&single, &pair])
}

/// Fails if a template of tokenizer.json contains an undefined token, which would make the crate panic.
pub fn require_known_tokens(file: &Map<String, Value>) -> Result<()> {
    file.get("post_processor").map_or(Ok(()), require_known)
}

fn require_known(processor: &Value) -> Result<()> {
    let nested = processor["processors"].as_array();
    nested.into_iter().flatten().try_for_each(require_known)?;
    for template in ["single", "pair"] {
        for part in processor[template].as_array().into_iter().flatten() {
            let token = part["SpecialToken"]["id"].as_str();
            let known = |token: &str| processor["special_tokens"].get(token).is_some();
            if let Some(token) = token.filter(|token| !known(token)) {
                bail!("{TOKENIZER}: post_processor: special_tokens: missing token `{token}`");
            }
        }
    }
    Ok(())
}

/// Derives templates from the post-processor of tokenizer.json.
pub fn from_post_processor(tokenizer: &Tokenizer) -> Result<Templates> {
    let Some(single) = template_for(tokenizer, 1)? else {
        bail!("{TOKENIZER}: post_processor: expected exactly one occurrence of the text");
    };
    Ok(Templates {
        single,
        pair: template_for(tokenizer, 2)?,
    })
}

/// Template for `texts` texts, found by processing one-token texts with unused ids. `None`: the post-processor does not
/// keep each text exactly once.
fn template_for(tokenizer: &Tokenizer, texts: usize) -> Result<Option<Template>> {
    const FIRST: u32 = u32::MAX;
    let text = |index: u32| {
        let token = Token::new(FIRST - index, String::new(), (0, 0));
        Encoding::from_tokens(vec![token], index)
    };
    let with_special_tokens = tokenizer
        .post_process(text(0), (texts == 2).then(|| text(1)), true)
        .map_err(|error| anyhow!("{TOKENIZER}: post_processor: {error}"))?;
    let ids = with_special_tokens
        .get_ids()
        .iter()
        .zip(with_special_tokens.get_type_ids());
    let parts: Template = ids
        .map(|(id, kind)| match (FIRST - id) as usize {
            text if text < texts => Part::Text(text, i64::from(*kind)),
            _ => Part::Id(i64::from(*id), i64::from(*kind)),
        })
        .collect();
    let times = |text: usize| {
        let is_it = |part: &&Part| matches!(part, Part::Text(other, _) if *other == text);
        parts.iter().filter(is_it).count()
    };
    let keeps_each_once = (0..texts).all(|text| times(text) == 1);
    Ok(keeps_each_once.then_some(parts))
}
