//! Special tokens as the JSON files write them: a string, or an object with properties.

use serde_json::Value;
use tokenizers::AddedToken;

use crate::error::{Error, Result};

pub fn is_token(value: &Value) -> bool {
    value.is_string() || value.get("__type").is_some_and(|kind| kind == "AddedToken")
}

pub fn optional(file: &str, key: &str, value: &Value) -> Result<Option<AddedToken>> {
    match value {
        Value::Null => Ok(None),
        Value::String(content) => Ok(Some(AddedToken::from(content.as_str(), true))),
        _ => from_object(file, key, value).map(Some),
    }
}

pub fn list(file: &str, key: &str, values: &[Value]) -> Result<Vec<AddedToken>> {
    let tokens = values.iter().map(|value| optional(file, key, value));
    tokens.filter_map(Result::transpose).collect()
}

/// `{"content": "<mask>", "lstrip": true, …}`, with the defaults of Python's `AddedToken`.
pub fn from_object(file: &str, key: &str, value: &Value) -> Result<AddedToken> {
    let Some(content) = value.get("content").and_then(Value::as_str) else {
        return Err(Error::new(format!(
            "{file}: {key}: expected a string or an object with \"content\""
        )));
    };
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let special = flag("special").unwrap_or(false);
    Ok(AddedToken::from(content, special)
        .single_word(flag("single_word").unwrap_or(false))
        .lstrip(flag("lstrip").unwrap_or(false))
        .rstrip(flag("rstrip").unwrap_or(false))
        .normalized(flag("normalized").unwrap_or(!special)))
}
