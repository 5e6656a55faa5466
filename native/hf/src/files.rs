//! The files of a tokenizer directory, read without judging their content.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The content of `directory/name`, or `None` where there is no such file.
pub fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    match fs::read(directory.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::in_file(name, error)),
    }
}

/// As `read`, for a JSON file whose top level must be an object.
pub fn read_object(directory: &Path, name: &str) -> Result<Option<Map<String, Value>>> {
    let Some(bytes) = read(directory, name)? else {
        return Ok(None);
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(Error::in_file(name, "expected a JSON object")),
        Err(error) => Err(Error::in_file(name, format!("not valid JSON: {error}"))),
    }
}

/// The lines of a UTF-8 text file, without their ends.
pub fn lines<'a>(name: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a str>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.lines()),
        Err(error) => Err(Error::in_file(name, error)),
    }
}
