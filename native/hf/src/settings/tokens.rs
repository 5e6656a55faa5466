//! Tokens as the JSON files write them: a string, or an object with properties.

use serde_json::Value;
use tokenizers::AddedToken;

use crate::error::{Error, Result};

/// The reference keeps the two apart: they are never equal to one another, and a class may give a
/// token without properties those that it wants.
#[derive(Clone, Debug)]
pub enum Token {
    Text(String),
    Full {
        token: AddedToken,
        /// Whether `normalized` was said: else it is what `special` is not, also once the token
        /// becomes special.
        says_normalized: bool,
    },
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Full { token: one, .. }, Self::Full { token: other, .. }) => one == other,
            _ => false,
        }
    }
}

impl Token {
    pub fn complete(token: AddedToken) -> Self {
        Self::Full {
            token,
            says_normalized: true,
        }
    }

    /// One that says nothing of `normalized`.
    pub fn incomplete(token: AddedToken) -> Self {
        Self::Full {
            token,
            says_normalized: false,
        }
    }

    pub fn content(&self) -> &str {
        match self {
            Self::Text(content) => content,
            Self::Full { token, .. } => &token.content,
        }
    }

    /// `is_named`: it is the tokenizer's unk_token, mask_token or the like.
    pub fn to_added(&self, is_named: bool) -> AddedToken {
        match self {
            Self::Text(content) => AddedToken::from(content.as_str(), true),
            Self::Full {
                token,
                says_normalized,
            } => {
                let special = token.special || is_named;
                let normalized = if *says_normalized {
                    token.normalized
                } else {
                    !special
                };
                token.clone().special(special).normalized(normalized)
            }
        }
    }
}

/// A string, or an object that was written as a token.
pub fn is_token(value: &Value) -> bool {
    value.is_string() || value.get("__type").is_some_and(|kind| kind == "AddedToken")
}

/// `None`: null.
pub fn optional(file: &str, key: &str, value: &Value) -> Result<Option<Token>> {
    match value {
        Value::Null => Ok(None),
        Value::String(content) => Ok(Some(Token::Text(content.clone()))),
        _ => Ok(Some(from_object(file, key, value)?)),
    }
}

pub fn list(file: &str, key: &str, values: &[Value]) -> Result<Vec<Token>> {
    let tokens = values.iter().map(|value| optional(file, key, value));
    tokens.filter_map(Result::transpose).collect()
}

/// `{"content": "<mask>", "lstrip": true, …}`, with the defaults of Python's `AddedToken`.
pub fn from_object(file: &str, key: &str, value: &Value) -> Result<Token> {
    let special = value.get("special").and_then(Value::as_bool);
    with_special(file, key, value, special.unwrap_or(false))
}

/// As `from_object`, whatever the object says of "special".
pub fn with_special(file: &str, key: &str, value: &Value, special: bool) -> Result<Token> {
    let Some(content) = value.get("content").and_then(Value::as_str) else {
        return Err(Error::new(format!(
            "{file}: {key}: expected a string or an object with \"content\""
        )));
    };
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let token = AddedToken::from(content, special)
        .single_word(flag("single_word").unwrap_or(false))
        .lstrip(flag("lstrip").unwrap_or(false))
        .rstrip(flag("rstrip").unwrap_or(false))
        .normalized(flag("normalized").unwrap_or(!special));
    Ok(Token::Full {
        token,
        says_normalized: flag("normalized").is_some(),
    })
}
