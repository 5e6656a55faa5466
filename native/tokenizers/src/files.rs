//! Reads the files of a tokenizer folder within size limits. The content is not validated here.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::{Map, Value};

use errors::{At, Result, bail, ensure};

pub const TOKENIZER: &str = "tokenizer.json";

/// Maximum file size. The largest tokenizer.json in use has 256,000 tokens and 34 MB.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of JSON values, lines or pieces of a file. The largest tokenizer.json in use has 2.5 million values.
/// A value takes up to 100 bytes of memory.
pub const MAX_ENTRIES: usize = 4_000_000;

/// Content of `directory/name`, or `None` if the file does not exist.
pub fn read(directory: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let path = directory.join(name);
    let size = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if !metadata.is_file() => bail!("{name}: is not a regular file"),
        metadata => usize::try_from(metadata.at(name)?.len())?,
    };
    require_at_most(name, size, "bytes", MAX_BYTES)?;
    let file = File::open(path).at(name)?;
    let mut bytes = Vec::with_capacity(size + 1);
    // The file may have grown since its size was read.
    let max = MAX_BYTES as u64 + 1;
    file.take(max).read_to_end(&mut bytes).at(name)?;
    require_at_most(name, bytes.len(), "bytes", MAX_BYTES)?;
    Ok(Some(bytes))
}

/// Content of a JSON file whose top level is an object, or `None` if the file does not exist.
pub fn read_object(directory: &Path, name: &str) -> Result<Option<Map<String, Value>>> {
    let bytes = read(directory, name)?;
    bytes.map(|bytes| object(name, &bytes)).transpose()
}

/// Parses a JSON object.
pub fn object(name: &str, bytes: &[u8]) -> Result<Map<String, Value>> {
    // Each value except the first follows a separator. Separators within strings are rare.
    let separators = bytes.iter().filter(|byte| matches!(byte, b',' | b':'));
    require_at_most(name, separators.count(), "values", MAX_ENTRIES)?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => bail!("{name}: expected a JSON object"),
        Err(error) => bail!("{name}: not valid JSON: {error}"),
    }
}

/// Lines of a UTF-8 text file, without line ends.
pub fn lines<'a>(name: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a str>> {
    let ends = bytes.iter().filter(|byte| **byte == b'\n');
    require_at_most(name, ends.count(), "lines", MAX_ENTRIES)?;
    Ok(std::str::from_utf8(bytes).at(name)?.lines())
}

/// Bounds the memory that reading a file takes to some hundred megabytes.
fn require_at_most(name: &str, count: usize, what: &str, max: usize) -> Result<()> {
    ensure!(
        count <= max,
        "{name}: has {count} {what}, expected at most {max}"
    );
    Ok(())
}
