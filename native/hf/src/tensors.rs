//! The tensors of a safetensors file.

use safetensors::tensor::{Metadata, SafeTensorError, SafeTensors};
use serde_json::Value;

use crate::error::{Error, Result};

/// Bytes of the header's length field.
const LENGTH_FIELD: usize = 8;

/// Bytes of a header: some 80,000 tensors, where the format allows ten times as many. Once read they
/// take many times the memory of their header, whatever their own size.
const MOST_HEADER: u64 = 10_000_000;

#[derive(Debug, PartialEq, Eq)]
pub struct Tensor {
    pub name: String,
    /// As the header has it: "F32", "F16", "BF16", …
    pub dtype: String,
    pub shape: Vec<i64>,
    /// Bytes from the start of the file.
    pub begin: usize,
    pub end: usize,
}

/// Validates a whole file's header; the tensors in the order of their offsets.
pub fn parse(file: &[u8]) -> Result<Vec<Tensor>> {
    if header_length(file).is_some_and(|length| length > MOST_HEADER) {
        return Err(explain(&SafeTensorError::HeaderTooLarge, file));
    }
    let (header_length, metadata) =
        SafeTensors::read_metadata(file).map_err(|error| explain(&error, file))?;
    let data = LENGTH_FIELD + header_length;
    metadata
        .offset_keys()
        .into_iter()
        .map(|name| tensor(&metadata, name, data))
        .collect()
}

fn tensor(metadata: &Metadata, name: String, data: usize) -> Result<Tensor> {
    let Some(info) = metadata.info(&name) else {
        return Err(Error::new(format!("tensor `{name}`: not in the header")));
    };
    let shape = info.shape.iter().map(|size| i64::try_from(*size));
    let Ok(shape) = shape.collect() else {
        return Err(Error::new(format!("tensor `{name}`: shape: too large")));
    };
    Ok(Tensor {
        dtype: info.dtype.to_string(),
        shape,
        begin: data + info.data_offsets.0,
        end: data + info.data_offsets.1,
        name,
    })
}

/// The crate's message, with the tensor at fault where it names none.
fn explain(error: &SafeTensorError, file: &[u8]) -> Error {
    let size = file.len();
    match error {
        SafeTensorError::HeaderTooSmall => Error::new(format!(
            "not a safetensors file: {size} bytes, too few for a header"
        )),
        SafeTensorError::InvalidHeaderLength => Error::new(format!(
            "truncated, or not a safetensors file: the header's length goes beyond the file's \
             {size} bytes"
        )),
        SafeTensorError::HeaderTooLarge => Error::new(
            "not a safetensors file, or damaged: the header's length is over 10,000,000 bytes",
        ),
        SafeTensorError::MetadataIncompleteBuffer => Error::new(match last_end(file) {
            Some(end) => format!("truncated or damaged: {size} bytes, {end} expected"),
            None => error.to_string(),
        }),
        SafeTensorError::TensorInvalidInfo | SafeTensorError::ValidationOverflow => {
            match wrong_tensor(file) {
                Some(name) => Error::new(format!(
                    "tensor `{name}`: data_offsets: not the size that its shape and dtype need"
                )),
                None => Error::new(error.to_string()),
            }
        }
        SafeTensorError::InvalidOffset(name) => Error::new(format!(
            "tensor `{name}`: data_offsets: overlapping, reversed, or with a hole before them"
        )),
        other => Error::new(other.to_string()),
    }
}

fn header_length(file: &[u8]) -> Option<u64> {
    let (length, _) = file.split_first_chunk::<LENGTH_FIELD>()?;
    Some(u64::from_le_bytes(*length))
}

/// The header's entries with their offsets.
fn entries(file: &[u8]) -> Option<Vec<(String, Value, usize, usize)>> {
    let length = usize::try_from(header_length(file)?).ok()?;
    let header = file.get(LENGTH_FIELD..LENGTH_FIELD.checked_add(length)?)?;
    let Value::Object(header) = serde_json::from_slice(header).ok()? else {
        return None;
    };
    let offset = |entry: &Value, index: usize| {
        let offset = entry["data_offsets"][index].as_u64()?;
        usize::try_from(offset).ok()
    };
    let tensors = header
        .into_iter()
        .filter(|(name, _)| name != "__metadata__");
    tensors
        .map(|(name, entry)| {
            let (begin, end) = (offset(&entry, 0)?, offset(&entry, 1)?);
            Some((name, entry, begin, end))
        })
        .collect()
}

/// The size that the file should have.
fn last_end(file: &[u8]) -> Option<usize> {
    let length = header_length(file)?;
    let ends = entries(file)?.into_iter().map(|(_, _, _, end)| end);
    let header = usize::try_from(length).ok()?.checked_add(LENGTH_FIELD)?;
    header.checked_add(ends.max().unwrap_or(0))
}

/// The first tensor, by offset, whose byte count does not fit its shape and dtype.
fn wrong_tensor(file: &[u8]) -> Option<String> {
    let mut entries = entries(file)?;
    entries.sort_by_key(|(_, _, begin, end)| (*begin, *end));
    let wrong = entries.into_iter().find(|(_, entry, begin, end)| {
        let info: Option<safetensors::tensor::TensorInfo> =
            serde_json::from_value(entry.clone()).ok();
        let bits = info.and_then(|info| {
            let mut sizes = info.shape.iter().copied();
            let count = sizes.try_fold(1usize, usize::checked_mul);
            count?.checked_mul(info.dtype.bitsize())
        });
        bits != end
            .checked_sub(*begin)
            .and_then(|bytes| bytes.checked_mul(8))
    });
    wrong.map(|(name, ..)| name)
}
