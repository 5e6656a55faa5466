//! Tokens as the JSON files write them: a string, or an object with properties.

use serde_json::Value;
use tokenizers::AddedToken;

use crate::error::{Result, bail};

/// The reference keeps strings and objects apart: they are never equal to one another, and a class
/// may give a token without properties those that it wants.
#[derive(Clone, Debug)]
pub struct Token {
    token: AddedToken,
    pub is_text: bool,
    /// Else `normalized` is what `special` is not, also once the token becomes special.
    says_normalized: bool,
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.is_text == other.is_text && self.token == other.token
    }
}

impl Token {
    pub fn text(content: &str) -> Self {
        Self {
            is_text: true,
            ..Self::complete(AddedToken::from(content, true))
        }
    }

    pub fn complete(token: AddedToken) -> Self {
        Self {
            token,
            is_text: false,
            says_normalized: true,
        }
    }

    /// One that says nothing of `normalized`.
    pub fn incomplete(token: AddedToken) -> Self {
        Self {
            says_normalized: false,
            ..Self::complete(token)
        }
    }

    pub fn content(&self) -> &str {
        &self.token.content
    }

    /// `is_named`: it is the tokenizer's unk_token, mask_token or the like.
    pub fn to_added(&self, is_named: bool) -> AddedToken {
        let special = self.token.special || is_named;
        let normalized = if self.says_normalized {
            self.token.normalized
        } else {
            !special
        };
        let token = self.token.clone();
        token.special(special).normalized(normalized)
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
        Value::String(content) => Ok(Some(Token::text(content))),
        _ => from_object(file, key, value, None).map(Some),
    }
}

pub fn list(file: &str, key: &str, values: &Value) -> Result<Vec<Token>> {
    let values = match values {
        Value::Null => return Ok(Vec::new()),
        Value::Array(values) => values,
        _ => bail!("{file}: {key}: expected an array or an object"),
    };
    let tokens = values.iter().map(|value| optional(file, key, value));
    tokens.filter_map(Result::transpose).collect()
}

/// `{"content": "<mask>", "lstrip": true, …}`, with the defaults of Python's `AddedToken`.
/// `special`: whatever the object says of that.
pub fn from_object(file: &str, key: &str, value: &Value, special: Option<bool>) -> Result<Token> {
    let Some(content) = value.get("content").and_then(Value::as_str) else {
        bail!("{file}: {key}: expected a string or an object with \"content\"");
    };
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let special = special.or_else(|| flag("special")).unwrap_or(false);
    let token = AddedToken::from(content, special)
        .single_word(flag("single_word").unwrap_or(false))
        .lstrip(flag("lstrip").unwrap_or(false))
        .rstrip(flag("rstrip").unwrap_or(false));
    Ok(match flag("normalized") {
        Some(normalized) => Token::complete(token.normalized(normalized)),
        None => Token::incomplete(token),
    })
}
