//! Special tokens and added tokens of a folder, merged as in transformers (tokenization_utils_base.py,
//! `PreTrainedTokenizerBase._from_pretrained` and `__init__`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::AddedToken;

use super::CONFIG;
use super::tokens::{self, Token};
use crate::files::{self, TOKENIZER};
use errors::{Result, anyhow, bail, ensure};

const SPECIAL_TOKENS_MAP: &str = "special_tokens_map.json";
const ADDED_TOKENS: &str = "added_tokens.json";

/// Maximum number of added tokens. Text models have up to 1,000.
const MAX_TOKENS: usize = 16_384;

const EXTRA: &str = "extra_special_tokens";
const ADDITIONAL: &str = "additional_special_tokens";
const MODEL_SPECIFIC: &str = "model_specific_special_tokens";

/// Special tokens that every tokenizer may have, in the order in which they are added.
pub const STANDARD: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// Default special tokens of a class, in the order of `STANDARD`; empty: none.
pub type Defaults = [&'static str; STANDARD.len()];

#[derive(Default)]
pub struct SpecialTokens {
    /// Added tokens by the id in the file. A token of the vocabulary keeps its id there.
    added: BTreeMap<u64, Token>,
    /// Standard tokens by key; `None`: null in the file.
    standard: BTreeMap<String, Option<Token>>,
    /// Special tokens with other keys, such as `image_token`.
    specific: BTreeMap<String, Token>,
    extra: Option<Vec<Token>>,
    /// Tokens under the older name of `extra`, used if `extra` is absent.
    additional: Option<Vec<Token>>,
    /// Keys whose tokens are objects in tokenizer_config.json.
    objects: BTreeSet<String>,
}

impl SpecialTokens {
    /// Reads the tokens. `values`: tokenizer_config.json; `file`: tokenizer.json, if present.
    pub fn read(
        directory: &Path,
        values: &Map<String, Value>,
        file: Option<&Map<String, Value>>,
    ) -> Result<Self> {
        let mut special = Self::default();
        for (key, value) in values {
            if key.ends_with("_token")
                && (tokens::is_token(value) || STANDARD.contains(&key.as_str()))
            {
                special.set(CONFIG, key, value)?;
                let object = value.is_object().then(|| key.clone());
                special.objects.extend(object);
            }
        }
        special.read_lists(values)?;
        // Tokens with keys of their own take precedence over this list.
        if let (Some(Value::Object(by_name)), true) =
            (values.get(MODEL_SPECIFIC), special.specific.is_empty())
        {
            special.read_named(CONFIG, by_name)?;
        }
        match values.get("added_tokens_decoder") {
            Some(Value::Object(decoder)) => special.read_decoder(decoder)?,
            Some(_) => bail!("{CONFIG}: added_tokens_decoder: expected an object"),
            None => special.read_older_files(directory, file)?,
        }
        // Tokens are compared pairwise, so their number is limited.
        let lists = special.extra.iter().chain(&special.additional);
        let listed: usize = lists.map(Vec::len).sum();
        let count = special.added.len() + special.specific.len() + listed;
        ensure!(
            count <= MAX_TOKENS,
            "{CONFIG}: {count} added tokens, expected at most {MAX_TOKENS}"
        );
        special.name_added_tokens();
        Ok(special)
    }

    fn set(&mut self, file: &str, key: &str, value: &Value) -> Result<()> {
        self.insert(key, tokens::optional(file, key, value)?);
        Ok(())
    }

    fn insert(&mut self, key: &str, token: Option<Token>) {
        if STANDARD.contains(&key) {
            self.standard.insert(key.to_owned(), token);
        } else {
            self.specific
                .extend(token.map(|token| (key.to_owned(), token)));
        }
    }

    /// Reads the two lists of tokenizer_config.json. An object instead of a list contains named tokens.
    fn read_lists(&mut self, values: &Map<String, Value>) -> Result<()> {
        let mut extra = values.get(EXTRA);
        let mut additional = values.get(ADDITIONAL);
        if additional.is_some() && extra.is_none_or(is_empty) {
            (extra, additional) = (additional, None);
        }
        if let Some(Value::Object(by_name)) = extra {
            self.read_named(CONFIG, by_name)?;
            extra = None;
        }
        let read = |key, list: Option<&Value>| list.map(|list| tokens::list(CONFIG, key, list));
        self.extra = read(EXTRA, extra).transpose()?;
        self.additional = read(ADDITIONAL, additional).transpose()?;
        Ok(())
    }

    fn read_named(&mut self, file: &str, by_name: &Map<String, Value>) -> Result<()> {
        for (name, value) in by_name {
            let token = tokens::optional(file, name, value)?;
            self.specific
                .extend(token.map(|token| (name.clone(), token)));
        }
        Ok(())
    }

    fn read_decoder(&mut self, decoder: &Map<String, Value>) -> Result<()> {
        for (id, token) in decoder {
            let id = id
                .parse()
                .map_err(|_| anyhow!("{CONFIG}: added_tokens_decoder: `{id}` is not a token id"))?;
            let key = format!("added_tokens_decoder.{id}");
            let token = tokens::from_object(CONFIG, &key, token, None)?;
            self.added.insert(id, token);
        }
        Ok(())
    }

    /// Reads added tokens from the files of older releases, which have no `added_tokens_decoder`.
    fn read_older_files(
        &mut self,
        directory: &Path,
        file: Option<&Map<String, Value>>,
    ) -> Result<()> {
        let map = files::read_object(directory, SPECIAL_TOKENS_MAP)?.unwrap_or_default();
        for (key, value) in &map {
            self.read_map_entry(key, value)?;
        }
        for (content, id) in files::read_object(directory, ADDED_TOKENS)?.unwrap_or_default() {
            let Some(id) = id.as_u64() else {
                bail!("{ADDED_TOKENS}: {content}: expected a token id");
            };
            let special = self.is_special(&content);
            let token = AddedToken::from(content, special);
            self.added.insert(id, Token::complete(token));
        }
        let list = file.and_then(|file| file.get("added_tokens")?.as_array());
        for token in list.into_iter().flatten() {
            let Some(id) = token.get("id").and_then(Value::as_u64) else {
                bail!("{TOKENIZER}: added_tokens: a token has no id");
            };
            let key = format!("added_tokens.{id}");
            let token = tokens::from_object(TOKENIZER, &key, token, None)?;
            self.added.insert(id, token);
        }
        Ok(())
    }

    /// True if a token of added_tokens.json is special. transformers ignores tokens that tokenizer_config.json writes
    /// as objects.
    fn is_special(&self, content: &str) -> bool {
        let mut standard = STANDARD.iter().filter(|key| !self.objects.contains(**key));
        let mut extra = self.extra.iter().flatten();
        standard.any(|key| self.standard(key) == Some(content))
            || extra.any(|token| token.is_text && token.content() == content)
    }

    fn read_map_entry(&mut self, key: &str, value: &Value) -> Result<()> {
        const FILE: &str = SPECIAL_TOKENS_MAP;
        self.objects.remove(key);
        match (key, value) {
            (EXTRA, Value::Object(by_name)) => {
                self.extra = None;
                self.read_named(FILE, by_name)?;
            }
            (EXTRA, list) => {
                let list = tokens::list(FILE, key, list)?;
                let extra = self.extra.get_or_insert_default();
                for token in list {
                    if !extra.contains(&token) {
                        extra.push(token);
                    }
                }
            }
            (ADDITIONAL, list) => self.additional = Some(tokens::list(FILE, key, list)?),
            (_, Value::Object(_)) => {
                let token = tokens::from_object(FILE, key, value, Some(true))?;
                self.insert(key, Some(token));
            }
            _ if key.ends_with("_token") => self.set(FILE, key, value)?,
            _ => {}
        }
        Ok(())
    }

    /// Copies the properties of added tokens to standard tokens with the same content.
    fn name_added_tokens(&mut self) {
        for token in self.standard.values_mut().flatten() {
            // The last added token with the same content applies.
            let mut added = self.added.values().rev();
            if let Some(added) = added.find(|added| added.content() == token.content()) {
                *token = added.clone();
            }
        }
    }

    /// Adds the default tokens of the class for missing keys.
    pub fn set_defaults(&mut self, defaults: Defaults) {
        let defaults = STANDARD.into_iter().zip(defaults);
        for (key, content) in defaults.filter(|(_, content)| !content.is_empty()) {
            self.set_default(key, content);
        }
    }

    pub fn set_default(&mut self, key: &str, content: &str) {
        let token = || Some(Token::text(content));
        self.standard.entry(key.to_owned()).or_insert_with(token);
    }

    /// Sets the properties of a standard token that is a plain string.
    pub fn complete(&mut self, key: &str, token: impl FnOnce(&str) -> AddedToken) {
        if let Some(Some(given)) = self.standard.get_mut(key) {
            if given.is_text {
                *given = Token::incomplete(token(given.content()));
            }
        }
    }

    /// Sets the default extra tokens of a class, if no file contains any.
    pub fn set_default_additional(&mut self, contents: &[&str]) {
        let texts = contents.iter().map(|text| Token::text(text));
        self.additional.get_or_insert_with(|| texts.collect());
    }

    /// Replaces the additional tokens by those of a SentencePiece model.
    pub fn set_additional(&mut self, tokens: impl Iterator<Item = AddedToken>) {
        self.additional = Some(tokens.map(Token::complete).collect());
    }

    /// Content of a standard token; `None` if absent or null.
    pub fn standard(&self, key: &str) -> Option<&str> {
        self.standard.get(key)?.as_ref().map(Token::content)
    }

    /// Ids and contents of the added tokens.
    pub fn added(&self) -> impl Iterator<Item = (u64, &str)> {
        self.added.iter().map(|(id, token)| (*id, token.content()))
    }

    /// All tokens to add to a tokenizer, in order: tokens with an id, named tokens, extra tokens
    /// (tokenization_utils_tokenizers.py, `TokenizersBackend.__init__`). A later token of the same content sets the
    /// properties. `known`: tokens that the tokenizer has added already.
    pub fn to_add(&self, known: &[AddedToken]) -> Vec<AddedToken> {
        let added = self.added.values();
        let mut list: Vec<&Token> = added
            .filter(|added| !known.contains(&added.to_added(false)))
            .collect();
        let known = known.iter().map(|token| token.content.as_str());
        let listed = list.iter().map(|token| token.content());
        let settled: BTreeSet<&str> = known.chain(listed).collect();
        let standard = STANDARD
            .iter()
            .filter_map(|key| self.standard.get(*key)?.as_ref());
        let named: Vec<&Token> = standard.chain(self.specific.values()).collect();
        let extra = self.extra.as_ref().or(self.additional.as_ref());
        for token in named.iter().copied().chain(extra.into_iter().flatten()) {
            if !settled.contains(token.content()) && !list.contains(&token) {
                list.push(token);
            }
        }
        let is_named = |token: &Token| named.iter().any(|name| name.content() == token.content());
        list.into_iter()
            .map(|token| token.to_added(is_named(token)))
            .collect()
    }
}

fn is_empty(value: &Value) -> bool {
    let is_list = value.as_array().is_some_and(Vec::is_empty);
    value.is_null() || is_list || value.as_object().is_some_and(Map::is_empty)
}
