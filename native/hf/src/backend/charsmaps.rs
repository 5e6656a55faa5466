//! The compiled normalization rules in a tokenizer.json that the crate will read itself.
//!
//! The crate takes such rules by the name of their key, with or without a "type" beside it, and of a
//! key that stands there twice the first value where the second is null. So all of them are checked,
//! as they are written and wherever they stand.

use std::fmt;

use super::TOKENIZER;
use crate::error::{Error, Result};
use crate::json::walk;
use crate::sentencepiece::charsmap;

const KEY: &str = "precompiled_charsmap";

/// `json`: the file.
pub fn check_all(json: &[u8]) -> Result<()> {
    let mut all = Ok(());
    let walked = walk(json, false, &mut |key, text| {
        if key == KEY && all.is_ok() {
            all = check(text);
        }
    });
    walked.map_err(|error| Error::in_file(TOKENIZER, error))?;
    all
}

fn check(encoded: &str) -> Result<()> {
    let problem =
        |cause: &dyn fmt::Display| Error::in_file(TOKENIZER, format!("normalizer: {KEY}: {cause}"));
    let bytes = base64::decode(encoded).map_err(|error| problem(&error))?;
    charsmap::check(&bytes).map_err(|error| problem(&error))
}
