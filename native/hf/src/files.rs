//! The files of a tokenizer directory, read within bounds, without judging their content.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The largest tokenizer.json in use, of 256,000 tokens, has 34 MB.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Values of a JSON file, lines, pieces: that one has 2.5 million values. Each takes up to 100 bytes.
pub const MOST_ENTRIES: usize = 4_000_000;

/// The content of `directory/name`, or `None` where there is no such file.
pub fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let path = directory.join(name);
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::in_file(name, error)),
    };
    if !metadata.is_file() {
        return Err(Error::in_file(name, "is not a regular file"));
    }
    let problem = |size: u64| {
        let expected = format!("has {size} bytes, expected at most {MOST_BYTES}");
        Error::in_file(name, expected)
    };
    if metadata.len() > MOST_BYTES {
        return Err(problem(metadata.len()));
    }
    let file = File::open(path).map_err(|error| Error::in_file(name, error))?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // It may have grown meanwhile.
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::in_file(name, error))?;
    match bytes.len() as u64 {
        size if size > MOST_BYTES => Err(problem(size)),
        _ => Ok(Some(bytes)),
    }
}

/// As `read`, for a JSON file whose top level must be an object.
pub fn read_object(directory: &Path, name: &str) -> Result<Option<Map<String, Value>>> {
    let Some(bytes) = read(directory, name)? else {
        return Ok(None);
    };
    object(name, &bytes).map(Some)
}

/// The JSON object that a file holds.
pub fn object(name: &str, bytes: &[u8]) -> Result<Map<String, Value>> {
    // Before each value but the first stands one of these; in texts they are rare.
    let separators = bytes.iter().filter(|byte| matches!(byte, b',' | b':'));
    require_few(name, "values", separators.count())?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::in_file(name, "expected a JSON object")),
        Err(error) => Err(Error::in_file(name, format!("not valid JSON: {error}"))),
    }
}

/// The lines of a UTF-8 text file, without their ends.
pub fn lines<'a>(name: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a str>> {
    let ends = bytes.iter().filter(|byte| **byte == b'\n');
    require_few(name, "lines", ends.count())?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.lines()),
        Err(error) => Err(Error::in_file(name, error)),
    }
}

/// So that reading a file takes no more than some hundred megabytes of memory.
fn require_few(name: &str, what: &str, count: usize) -> Result<()> {
    if count <= MOST_ENTRIES {
        return Ok(());
    }
    let problem = format!("has {count} {what}, expected at most {MOST_ENTRIES}");
    Err(Error::in_file(name, problem))
}
