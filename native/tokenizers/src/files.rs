//! The files of a tokenizer directory, read within bounds, without judging their content.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{At, Result, bail, ensure};

pub const TOKENIZER: &str = "tokenizer.json";

/// The largest tokenizer.json in use, of 256,000 tokens, has 34 MB.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// Values of a JSON file, lines, pieces: that one has 2.5 million values. Each takes up to 100 bytes.
pub const MOST_ENTRIES: usize = 4_000_000;

/// The content of `directory/name`, or `None` where there is no such file.
pub fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let path = directory.join(name);
    let size = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if !metadata.is_file() => bail!("{name}: is not a regular file"),
        metadata => usize::try_from(metadata.at(name)?.len())?,
    };
    require_few(name, size, "bytes", MOST_BYTES)?;
    let file = File::open(path).at(name)?;
    let mut bytes = Vec::with_capacity(size + 1);
    // It may have grown meanwhile.
    let most = MOST_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut bytes).at(name)?;
    require_few(name, bytes.len(), "bytes", MOST_BYTES)?;
    Ok(Some(bytes))
}

/// As `read`, for a JSON file whose top level must be an object.
pub fn read_object(directory: &Path, name: &str) -> Result<Option<Map<String, Value>>> {
    let bytes = read(directory, name)?;
    bytes.map(|bytes| object(name, &bytes)).transpose()
}

/// The JSON object that a file holds.
pub fn object(name: &str, bytes: &[u8]) -> Result<Map<String, Value>> {
    // Before each value but the first stands one of these; in texts they are rare.
    let separators = bytes.iter().filter(|byte| matches!(byte, b',' | b':'));
    require_few(name, separators.count(), "values", MOST_ENTRIES)?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => bail!("{name}: expected a JSON object"),
        Err(error) => bail!("{name}: not valid JSON: {error}"),
    }
}

/// The lines of a UTF-8 text file, without their ends.
pub fn lines<'a>(name: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a str>> {
    let ends = bytes.iter().filter(|byte| **byte == b'\n');
    require_few(name, ends.count(), "lines", MOST_ENTRIES)?;
    Ok(std::str::from_utf8(bytes).at(name)?.lines())
}

/// So that reading a file takes no more than some hundred megabytes of memory.
fn require_few(name: &str, count: usize, what: &str, most: usize) -> Result<()> {
    ensure!(
        count <= most,
        "{name}: has {count} {what}, expected at most {most}"
    );
    Ok(())
}
