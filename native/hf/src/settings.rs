//! What `tokenizer_config.json` and its older companions (`special_tokens_map.json`,
//! `added_tokens.json`) say, merged as transformers does
//! (tokenization_utils_base.py, `PreTrainedTokenizerBase._from_pretrained`).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::AddedToken;

use crate::error::{Error, Result};
use crate::files;

mod tokens;

const CONFIG: &str = "tokenizer_config.json";
const SPECIAL_TOKENS_MAP: &str = "special_tokens_map.json";
const ADDED_TOKENS: &str = "added_tokens.json";
const TOKENIZER: &str = "tokenizer.json";

/// The special tokens that every tokenizer may have, in the order in which they are added.
const NAMED_TOKENS: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

pub struct Settings {
    values: Map<String, Value>,
    /// By id. Their ids are not binding: a token gets the id that the vocabulary gives it.
    added: BTreeMap<u64, AddedToken>,
    named: BTreeMap<String, AddedToken>,
    extra: Vec<AddedToken>,
}

impl Settings {
    /// `tokenizer_file`: the content of tokenizer.json, where there is one.
    pub fn read(directory: &Path, tokenizer_file: Option<&Map<String, Value>>) -> Result<Self> {
        let values = files::read_object(directory, CONFIG)?.unwrap_or_default();
        let mut settings = Self {
            values,
            added: BTreeMap::new(),
            named: BTreeMap::new(),
            extra: Vec::new(),
        };
        settings.read_special_tokens()?;
        match settings.values.get("added_tokens_decoder") {
            Some(Value::Object(decoder)) => {
                for (id, token) in decoder {
                    let id = id.parse().map_err(|_| {
                        Error::new(format!(
                            "{CONFIG}: added_tokens_decoder: `{id}` is not a token id"
                        ))
                    })?;
                    let key = format!("added_tokens_decoder.{id}");
                    settings
                        .added
                        .insert(id, tokens::from_object(CONFIG, &key, token)?);
                }
            }
            Some(_) => return Err(expected("added_tokens_decoder", "an object")),
            None => settings.read_older_files(directory, tokenizer_file)?,
        }
        settings.name_added_tokens();
        Ok(settings)
    }

    /// Special tokens of tokenizer_config.json: named, model-specific (`*_token`) and extra ones.
    fn read_special_tokens(&mut self) -> Result<()> {
        for (key, value) in &self.values {
            let named = NAMED_TOKENS.contains(&key.as_str());
            if named || (key.ends_with("_token") && tokens::is_token(value)) {
                if let Some(token) = tokens::optional(CONFIG, key, value)? {
                    self.named.insert(key.clone(), token);
                }
            }
        }
        let extra = ["extra_special_tokens", "additional_special_tokens"]
            .into_iter()
            .find_map(|key| Some((key, self.values.get(key).filter(|value| !is_empty(value))?)));
        match extra {
            Some((key, Value::Array(list))) => self.extra = tokens::list(CONFIG, key, list)?,
            Some((key, Value::Object(by_name))) => {
                for (name, value) in by_name {
                    if let Some(token) = tokens::optional(CONFIG, key, value)? {
                        self.named.insert(name.clone(), token);
                    }
                }
            }
            Some((key, _)) => return Err(expected(key, "an array or an object")),
            None => {}
        }
        Ok(())
    }

    /// Without an `added_tokens_decoder`, the files of older releases say which tokens were added.
    fn read_older_files(
        &mut self,
        directory: &Path,
        tokenizer_file: Option<&Map<String, Value>>,
    ) -> Result<()> {
        let map = files::read_object(directory, SPECIAL_TOKENS_MAP)?.unwrap_or_default();
        for (key, value) in &map {
            match value {
                Value::Array(list) => {
                    for token in tokens::list(SPECIAL_TOKENS_MAP, key, list)? {
                        if !self
                            .extra
                            .iter()
                            .any(|known| known.content == token.content)
                        {
                            self.extra.push(token);
                        }
                    }
                }
                _ => {
                    if let Some(token) = tokens::optional(SPECIAL_TOKENS_MAP, key, value)? {
                        self.named.insert(key.clone(), token.special(true));
                    }
                }
            }
        }
        for (content, id) in files::read_object(directory, ADDED_TOKENS)?.unwrap_or_default() {
            let Some(id) = id.as_u64() else {
                return Err(Error::new(format!(
                    "{ADDED_TOKENS}: {content}: expected a token id"
                )));
            };
            let special = self.special_tokens().any(|token| token.content == content);
            self.added.insert(id, AddedToken::from(content, special));
        }
        if let Some(Value::Array(list)) = tokenizer_file.and_then(|file| file.get("added_tokens")) {
            for token in list {
                let Some(id) = token.get("id").and_then(Value::as_u64) else {
                    return Err(Error::in_file(TOKENIZER, "added_tokens: a token has no id"));
                };
                let key = format!("added_tokens.{id}");
                self.added
                    .insert(id, tokens::from_object(TOKENIZER, &key, token)?);
            }
        }
        Ok(())
    }

    /// A special token that is also an added one takes that one's properties.
    fn name_added_tokens(&mut self) {
        for key in NAMED_TOKENS {
            if let Some(token) = self.named.get_mut(key) {
                // Of several with the same content the last one is meant.
                let added = self.added.values().rev();
                if let Some(added) = added.clone().find(|added| added.content == token.content) {
                    *token = added.clone();
                }
            }
        }
    }

    /// Sets the named tokens that no file gave.
    pub fn set_defaults(&mut self, defaults: &[(&str, AddedToken)]) {
        for (key, token) in defaults {
            self.named
                .entry((*key).to_owned())
                .or_insert_with(|| token.clone());
        }
    }

    pub fn set_default_extra(&mut self, contents: &[&str]) {
        let given = ["extra_special_tokens", "additional_special_tokens"]
            .iter()
            .any(|key| self.values.get(*key).is_some_and(|value| !value.is_null()));
        if !given && self.extra.is_empty() {
            let tokens = contents.iter().map(|text| AddedToken::from(*text, true));
            self.extra = tokens.collect();
        }
    }

    pub fn named(&self, key: &str) -> Option<&AddedToken> {
        self.named.get(key)
    }

    fn special_tokens(&self) -> impl Iterator<Item = &AddedToken> {
        self.named.values().chain(&self.extra)
    }

    /// All tokens to add to a tokenizer, in order: those with an id, then the named ones, then the
    /// extra ones (tokenization_utils_tokenizers.py, `TokenizersBackend.__init__`). `known`: the
    /// contents that the tokenizer has as added tokens already.
    pub fn tokens_to_add(&self, known: &[String]) -> Vec<AddedToken> {
        let mut list: Vec<AddedToken> = self.added.values().cloned().collect();
        let standard = NAMED_TOKENS.iter().filter_map(|key| self.named.get(*key));
        let specific = self
            .named
            .iter()
            .filter(|(key, _)| !NAMED_TOKENS.contains(&key.as_str()))
            .map(|(_, token)| token);
        for token in standard.chain(specific).chain(&self.extra) {
            let content = &token.content;
            if !known.contains(content) && !list.iter().any(|added| added.content == *content) {
                list.push(token.clone());
            }
        }
        for token in &mut list {
            token.special |= self
                .named
                .values()
                .any(|named| named.content == token.content);
        }
        list
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::as_str)
    }

    pub fn optional_flag(&self, key: &str) -> Result<Option<bool>> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(expected(key, "true or false")),
        }
    }

    pub fn flag(&self, key: &str, default: bool) -> Result<bool> {
        Ok(self.optional_flag(key)?.unwrap_or(default))
    }

    /// `None`: no limit (absent, or the huge number that transformers writes for "none").
    pub fn model_max_length(&self) -> Result<Option<usize>> {
        for key in ["model_max_length", "max_len"] {
            match self.values.get(key) {
                None | Some(Value::Null) => {}
                Some(value) => match value.as_f64() {
                    Some(length) if length > 1e15 => return Ok(None),
                    Some(length) if length >= 1.0 => return Ok(Some(length as usize)),
                    _ => return Err(expected(key, "a positive number")),
                },
            }
        }
        Ok(None)
    }

    /// `default_left`: where tokenizer_config.json says nothing.
    pub fn truncates_left(&self, default_left: bool) -> Result<bool> {
        match self.values.get("truncation_side").map(Value::as_str) {
            None => Ok(default_left),
            Some(Some("right")) => Ok(false),
            Some(Some("left")) => Ok(true),
            Some(_) => Err(expected("truncation_side", "\"right\" or \"left\"")),
        }
    }

    /// Whether the tokenizer gives token_type_ids to the model when its class does not say.
    pub fn names_token_type_ids(&self) -> bool {
        let names = self
            .values
            .get("model_input_names")
            .and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|name| name == "token_type_ids"))
    }
}

fn expected(key: &str, what: &str) -> Error {
    Error::new(format!("{CONFIG}: {key}: expected {what}"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
