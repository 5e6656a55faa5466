//! The special and the added tokens of a directory, merged as transformers does
//! (tokenization_utils_base.py, `PreTrainedTokenizerBase._from_pretrained` and `__init__`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::AddedToken;

use super::tokens::{self, Token};
use super::{CONFIG, expected};
use crate::error::{Error, Result};
use crate::files;

const SPECIAL_TOKENS_MAP: &str = "special_tokens_map.json";
const ADDED_TOKENS: &str = "added_tokens.json";
const TOKENIZER: &str = "tokenizer.json";

/// Models for texts have up to 1,000.
const MOST_TOKENS: usize = 16_384;

const EXTRA: &str = "extra_special_tokens";
const ADDITIONAL: &str = "additional_special_tokens";

/// The special tokens that every tokenizer may have, in the order in which they are added.
const STANDARD: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

#[derive(Default)]
pub struct SpecialTokens {
    /// By id. Their ids are not binding: a token gets the id that the vocabulary gives it.
    added: BTreeMap<u64, Token>,
    /// `None`: said to be none; absent: not said.
    standard: BTreeMap<&'static str, Option<Token>>,
    /// Those with a name of their own (`image_token`).
    specific: BTreeMap<String, Token>,
    extra: Option<Vec<Token>>,
    /// The older name of `extra`, used where that is not given.
    additional: Option<Vec<Token>>,
    /// The keys whose tokens tokenizer_config.json writes as objects.
    objects: BTreeSet<&'static str>,
}

impl SpecialTokens {
    /// `values`: tokenizer_config.json; `file`: tokenizer.json, where there is one.
    pub fn read(
        directory: &Path,
        values: &Map<String, Value>,
        file: Option<&Map<String, Value>>,
    ) -> Result<Self> {
        let mut special = Self::default();
        for (key, value) in values {
            if key.ends_with("_token") && (tokens::is_token(value) || standard(key).is_some()) {
                special.set(CONFIG, key, value)?;
                special
                    .objects
                    .extend(standard(key).filter(|_| value.is_object()));
            }
        }
        special.read_lists(values)?;
        match values.get("added_tokens_decoder") {
            Some(Value::Object(decoder)) => special.read_decoder(decoder)?,
            Some(_) => return Err(expected("added_tokens_decoder", "an object")),
            None => special.read_older_files(directory, file)?,
        }
        special.require_few()?;
        special.name_added_tokens();
        Ok(special)
    }

    /// Each is compared with all others.
    fn require_few(&self) -> Result<()> {
        let lists = self.extra.iter().chain(&self.additional);
        let listed: usize = lists.map(Vec::len).sum();
        let count = self.added.len() + self.specific.len() + listed;
        if count <= MOST_TOKENS {
            return Ok(());
        }
        Err(Error::in_file(
            CONFIG,
            format!("{count} added tokens, expected at most {MOST_TOKENS}"),
        ))
    }

    fn set(&mut self, file: &str, key: &str, value: &Value) -> Result<()> {
        let token = tokens::optional(file, key, value)?;
        match (standard(key), token) {
            (Some(key), token) => drop(self.standard.insert(key, token)),
            (None, Some(token)) => drop(self.specific.insert(key.to_owned(), token)),
            (None, None) => {}
        }
        Ok(())
    }

    /// The two lists of tokenizer_config.json; an object gives its tokens names.
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
        self.extra = extra
            .map(|list| read_list(CONFIG, EXTRA, list))
            .transpose()?;
        self.additional = additional
            .map(|list| read_list(CONFIG, ADDITIONAL, list))
            .transpose()?;
        Ok(())
    }

    fn read_named(&mut self, file: &str, by_name: &Map<String, Value>) -> Result<()> {
        for (name, value) in by_name {
            if let Some(token) = tokens::optional(file, name, value)? {
                self.specific.insert(name.clone(), token);
            }
        }
        Ok(())
    }

    fn read_decoder(&mut self, decoder: &Map<String, Value>) -> Result<()> {
        for (id, token) in decoder {
            let id = id.parse().map_err(|_| {
                Error::new(format!(
                    "{CONFIG}: added_tokens_decoder: `{id}` is not a token id"
                ))
            })?;
            let key = format!("added_tokens_decoder.{id}");
            self.added
                .insert(id, tokens::from_object(CONFIG, &key, token)?);
        }
        Ok(())
    }

    /// Without an `added_tokens_decoder`, the files of older releases say which tokens were added.
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
                return Err(Error::new(format!(
                    "{ADDED_TOKENS}: {content}: expected a token id"
                )));
            };
            let special = self.is_special(&content);
            let token = AddedToken::from(content, special);
            self.added.insert(id, Token::complete(token));
        }
        if let Some(Value::Array(list)) = file.and_then(|file| file.get("added_tokens")) {
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

    /// For the tokens of added_tokens.json; the reference overlooks objects of
    /// tokenizer_config.json there.
    fn is_special(&self, content: &str) -> bool {
        let standard = self.standard.iter();
        let mut standard = standard.filter(|(key, _)| !self.objects.contains(*key));
        let mut extra = self.extra.iter().flatten();
        standard.any(|(_, token)| {
            token
                .as_ref()
                .is_some_and(|token| token.content() == content)
        }) || extra.any(|token| matches!(token, Token::Text(text) if text == content))
    }

    fn read_map_entry(&mut self, key: &str, value: &Value) -> Result<()> {
        self.objects.remove(key);
        match (key, value) {
            (EXTRA, Value::Object(by_name)) => {
                self.extra = None;
                self.read_named(SPECIAL_TOKENS_MAP, by_name)?;
            }
            (EXTRA, list) => {
                let list = read_list(SPECIAL_TOKENS_MAP, key, list)?;
                let extra = self.extra.get_or_insert_default();
                for token in list {
                    if !extra.contains(&token) {
                        extra.push(token);
                    }
                }
            }
            (ADDITIONAL, list) => self.additional = Some(read_list(SPECIAL_TOKENS_MAP, key, list)?),
            (_, Value::Object(_)) => {
                let token = tokens::with_special(SPECIAL_TOKENS_MAP, key, value, true)?;
                match standard(key) {
                    Some(key) => drop(self.standard.insert(key, Some(token))),
                    None => drop(self.specific.insert(key.to_owned(), token)),
                }
            }
            _ if key.ends_with("_token") => self.set(SPECIAL_TOKENS_MAP, key, value)?,
            _ => {}
        }
        Ok(())
    }

    /// A standard token that is also an added one takes that one's properties.
    fn name_added_tokens(&mut self) {
        for token in self.standard.values_mut().flatten() {
            // Of several with the same content the last one is meant.
            let mut added = self.added.values().rev();
            if let Some(added) = added.find(|added| added.content() == token.content()) {
                *token = added.clone();
            }
        }
    }

    /// Sets the standard tokens that no file speaks of.
    pub fn set_defaults(&mut self, defaults: &[(&'static str, &str)]) {
        for (key, content) in defaults {
            self.standard
                .entry(key)
                .or_insert_with(|| Some(Token::Text((*content).to_owned())));
        }
    }

    /// Gives a standard token that has no properties those that its class wants.
    pub fn complete(&mut self, key: &'static str, token: impl FnOnce(&str) -> AddedToken) {
        if let Some(Some(given)) = self.standard.get_mut(key) {
            if let Token::Text(content) = given {
                *given = Token::incomplete(token(content));
            }
        }
    }

    /// The extra tokens of a class, used where no file gives any.
    pub fn set_default_additional(&mut self, contents: &[&str]) {
        self.additional.get_or_insert_with(|| {
            let texts = contents.iter().map(|text| Token::Text((*text).to_owned()));
            texts.collect()
        });
    }

    /// Those of a SentencePiece model, in place of an older list.
    pub fn set_additional(&mut self, tokens: Vec<AddedToken>) {
        self.additional = Some(tokens.into_iter().map(Token::complete).collect());
    }

    /// `None`: there is none of this name.
    pub fn standard(&self, key: &str) -> Option<&str> {
        self.standard.get(key)?.as_ref().map(Token::content)
    }

    /// (id, content)
    pub fn added(&self) -> impl Iterator<Item = (u64, &str)> {
        let added = self.added.iter();
        added.map(|(id, token)| (*id, token.content()))
    }

    /// All tokens to add to a tokenizer, in order: those with an id, then the named ones, then the
    /// extra ones (tokenization_utils_tokenizers.py, `TokenizersBackend.__init__`). A later one of
    /// the same content sets the properties. `known`: what the tokenizer has added already.
    pub fn to_add(&self, known: &[AddedToken]) -> Vec<AddedToken> {
        let added = self.added.values();
        let mut list: Vec<Token> = added
            .filter(|added| !known.contains(&added.to_added(false)))
            .cloned()
            .collect();
        let known = known.iter().map(|token| token.content.as_str());
        let listed = list.iter().map(Token::content);
        let settled: Vec<String> = known.chain(listed).map(str::to_owned).collect();
        let standard = STANDARD.iter().filter_map(|key| self.standard.get(key));
        let named: Vec<&Token> = standard.flatten().chain(self.specific.values()).collect();
        let extra = self.extra.as_ref().or(self.additional.as_ref());
        for token in named.iter().copied().chain(extra.into_iter().flatten()) {
            let is_settled = settled.iter().any(|content| content == token.content());
            if !is_settled && !list.contains(token) {
                list.push(token.clone());
            }
        }
        let is_named = |token: &Token| named.iter().any(|name| name.content() == token.content());
        let tokens = list.iter();
        tokens
            .map(|token| token.to_added(is_named(token)))
            .collect()
    }
}

fn standard(key: &str) -> Option<&'static str> {
    STANDARD.into_iter().find(|name| *name == key)
}

fn read_list(file: &str, key: &str, list: &Value) -> Result<Vec<Token>> {
    match list {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => tokens::list(file, key, list),
        _ => Err(Error::new(format!(
            "{file}: {key}: expected an array or an object"
        ))),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
