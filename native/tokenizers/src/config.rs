//! Settings in `tokenizer_config.json` and the older `special_tokens_map.json` and `added_tokens.json`.

use std::path::Path;

use serde_json::{Map, Value};

use crate::early_truncation::Side;
use crate::files;
use errors::{Result, anyhow, bail};

mod special_tokens;
mod tokens;

pub use special_tokens::{Defaults, STANDARD, SpecialTokens};

const CONFIG: &str = "tokenizer_config.json";

pub struct TokenizerConfig {
    values: Map<String, Value>,
    pub special_tokens: SpecialTokens,
}

impl TokenizerConfig {
    /// Reads the files of a folder. `tokenizer_file`: content of tokenizer.json, if present.
    pub fn read(directory: &Path, tokenizer_file: Option<&Map<String, Value>>) -> Result<Self> {
        let values = files::read_object(directory, CONFIG)?.unwrap_or_default();
        let special_tokens = SpecialTokens::read(directory, &values, tokenizer_file)?;
        Ok(Self {
            values,
            special_tokens,
        })
    }

    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Value of a key, or `None` if absent.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::as_str)
    }

    /// Value of a key, or `None` if absent or null. `read` returns `None` for an invalid value.
    fn get<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.values.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                None => bail!("{CONFIG}: {key}: expected {expected}"),
                found => Ok(found),
            },
        }
    }

    pub fn optional_flag(&self, key: &str) -> Result<Option<bool>> {
        self.get(key, "true or false", Value::as_bool)
    }

    pub fn flag(&self, key: &str, default: bool) -> Result<bool> {
        Ok(self.optional_flag(key)?.unwrap_or(default))
    }

    pub fn id(&self, key: &str) -> Result<Option<u32>> {
        self.get(key, "a token id", |value| value.as_u64()?.try_into().ok())
    }

    /// Maximum length in tokens. `None` if absent, or for the very large number that transformers writes for
    /// "unlimited".
    pub fn model_max_length(&self) -> Result<Option<usize>> {
        // The older key applies if the newer one is absent, but not if it is null.
        let key = if self.has("model_max_length") {
            "model_max_length"
        } else {
            "max_len"
        };
        let positive = |value: &Value| value.as_f64().filter(|length| *length >= 1.0);
        let length = self.get(key, "a positive number", positive)?;
        Ok(length.and_then(|length| (length <= 1e15).then_some(length as usize)))
    }

    /// Side of a text to keep. `file`: tokenizer.json, whose `truncation.direction` applies if tokenizer_config.json
    /// has no `truncation_side`.
    pub fn truncation_side(&self, file: Option<&Map<String, Value>>) -> Result<Side> {
        let truncation = file.and_then(|file| file.get("truncation"));
        match self.values.get("truncation_side").map(Value::as_str) {
            None if truncation.is_some_and(|it| it["direction"] == "Left") => Ok(Side::End),
            None | Some(Some("right")) => Ok(Side::Start),
            Some(Some("left")) => Ok(Side::End),
            Some(_) => Err(anyhow!(
                "{CONFIG}: truncation_side: expected \"right\" or \"left\""
            )),
        }
    }

    /// True if `model_input_names` contains token_type_ids; `None` if absent: the class decides.
    pub fn lists_token_type_ids(&self) -> Option<bool> {
        let names = self.values.get("model_input_names")?.as_array()?;
        Some(names.iter().any(|name| name == "token_type_ids"))
    }
}
