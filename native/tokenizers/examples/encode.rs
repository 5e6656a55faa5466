//! Tokenizes requests from standard input, one JSON value per line, and writes one JSON response per line. Used by
//! test/parity/tokenizer_parity.py.
//!
//! `{"directory": "…", "family": "Bert", "position_limit": 512}` opens a tokenizer; response: `{"max_length": 512}` or
//! `{"error": "…"}`. A string is encoded with the last opened tokenizer; response: the ids. `{"text": "…", "pair": "…",
//! "truncation": 0, "side": 0}`, with enumeration values of bridge.rs, is encoded likewise; response: `[ids, token
//! types, truncated]`.

use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Value, json};
use tokenizers_ffi::tokenizer::{Family, Input, Side, Tokenizer, Truncation};

fn main() -> std::io::Result<()> {
    let mut tokenizer = None;
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let response = match serde_json::from_str(&line?)? {
            Value::String(text) => encode(tokenizer.as_ref(), text.as_str().into())
                .map(|mut encoding| encoding[0].take()),
            request if request.get("text").is_some() => {
                input_of(&request).and_then(|input| encode(tokenizer.as_ref(), input))
            }
            request => open(&request).map(|opened| {
                let response = json!({"max_length": opened.max_length()});
                tokenizer = Some(opened);
                response
            }),
        };
        let response = response.unwrap_or_else(|error| json!({"error": error}));
        writeln!(output, "{response}")?;
    }
    output.flush()
}

fn open(request: &Value) -> Result<Tokenizer, String> {
    let text = |key: &str| request[key].as_str().ok_or(format!("{key}: a string"));
    let name = text("family")?;
    let mut families = (0..8).map(|repr| Family { repr });
    let family = families.find(|family| format!("{family:?}") == name);
    let family = family.ok_or(format!("family: {name}"))?;
    let limit = request["position_limit"].as_u64().unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Tokenizer::open(Path::new(text("directory")?), family, limit).map_err(|error| error.to_string())
}

fn input_of(request: &Value) -> Result<Input<'_>, String> {
    let number = |key: &str| request[key].as_i64().unwrap_or(0);
    let truncation = u8::try_from(number("truncation")).ok();
    Ok(Input {
        text: request["text"].as_str().ok_or("text: a string")?,
        pair: request["pair"].as_str(),
        truncation: truncation
            .map(|repr| Truncation { repr })
            .ok_or("truncation")?,
        kept_side: match number("side") {
            1 => Some(Side::Start),
            2 => Some(Side::End),
            _ => None,
        },
        is_pair: false,
        max_tokens: None,
    })
}

fn encode(tokenizer: Option<&Tokenizer>, input: Input) -> Result<Value, String> {
    let tokenizer = tokenizer.ok_or("no tokenizer was opened")?;
    let encoding = tokenizer.encode(input).map_err(|error| error.to_string())?;
    Ok(json!([
        encoding.input_ids,
        encoding.token_type_ids,
        encoding.truncated
    ]))
}
