//! Tokens in JSON files: a string, or an object with properties.

use serde_json::Value;
use tokenizers::AddedToken;

use errors::{Result, bail};

/// A token. transformers distinguishes strings from objects: they are never equal, and a class may set the properties
/// of a string.
#[derive(Clone, Debug)]
pub struct Token {
    token: AddedToken,
    pub is_text: bool,
    /// False: `normalized` is the opposite of `special`, also if the token becomes special later.
    has_normalized: bool,
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
            has_normalized: true,
        }
    }

    /// A token without the property `normalized`.
    pub fn incomplete(token: AddedToken) -> Self {
        Self {
            has_normalized: false,
            ..Self::complete(token)
        }
    }

    pub fn content(&self) -> &str {
        &self.token.content
    }

    /// Token for the tokenizer. `is_named`: the token is unk_token, mask_token or the like.
    pub fn to_added(&self, is_named: bool) -> AddedToken {
        let special = self.token.special || is_named;
        let normalized = if self.has_normalized {
            self.token.normalized
        } else {
            !special
        };
        let token = self.token.clone();
        token.special(special).normalized(normalized)
    }
}

/// True for a string, and for an object that was serialized as a token.
pub fn is_token(value: &Value) -> bool {
    value.is_string() || value.get("__type").is_some_and(|kind| kind == "AddedToken")
}

/// Reads a token; `None` for null.
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

/// Reads `{"content": "<mask>", "lstrip": true, …}` with the defaults of Python's `AddedToken`. `special` overrides the
/// property of the object.
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
