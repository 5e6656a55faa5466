//! What `tokenizer_config.json` and its older companions (`special_tokens_map.json`,
//! `added_tokens.json`) say.

use std::path::Path;

use serde_json::{Map, Value};

use crate::cut::Side;
use crate::error::{Result, anyhow, bail};
use crate::files;

mod special_tokens;
mod tokens;

pub use special_tokens::{Defaults, STANDARD, SpecialTokens};

const CONFIG: &str = "tokenizer_config.json";

pub struct Settings {
    values: Map<String, Value>,
    pub special_tokens: SpecialTokens,
}

impl Settings {
    /// `tokenizer_file`: the content of tokenizer.json, where there is one.
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

    /// `None`: absent.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::as_str)
    }

    /// `None`: absent or null. `read`: `None` for what is not as expected.
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

    /// `None`: no limit (absent, or the huge number that transformers writes for "none").
    pub fn model_max_length(&self) -> Result<Option<usize>> {
        // The older name counts where the other one is absent, though not where it is null.
        let key = if self.has("model_max_length") {
            "model_max_length"
        } else {
            "max_len"
        };
        let positive = |value: &Value| value.as_f64().filter(|length| *length >= 1.0);
        let length = self.get(key, "a positive number", positive)?;
        Ok(length.and_then(|length| (length <= 1e15).then_some(length as usize)))
    }

    /// `file`: tokenizer.json, whose own truncation is not used but for its side, where this says
    /// none.
    pub fn kept_side(&self, file: Option<&Map<String, Value>>) -> Result<Side> {
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

    /// Whether `model_input_names` has token_type_ids; `None`: the class says what its model reads.
    pub fn names_token_type_ids(&self) -> Option<bool> {
        let names = self.values.get("model_input_names")?.as_array()?;
        Some(names.iter().any(|name| name == "token_type_ids"))
    }
}
