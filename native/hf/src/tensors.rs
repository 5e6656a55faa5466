//! The tensors of a safetensors file.

use safetensors::tensor::{Metadata, SafeTensorError, SafeTensors};
use serde_json::Value;

pub use crate::bridge::Tensor;
use crate::error::{Error, Result};

mod names;

/// Bytes of the header's length field.
const LENGTH_FIELD: usize = 8;

/// A tensor takes about 130 bytes of it.
const MOST_HEADER_BYTES: usize = 8 * 1024 * 1024;

/// Validates a whole file's header; the tensors in the order of their offsets.
pub fn parse(file: &[u8]) -> Result<Vec<Tensor>> {
    if let Some(header) = header(file) {
        require_few_bytes(header)?;
        names::require_unique(header)?;
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
    // A size of 0 excuses no others: strides are products of those that are left.
    let mut sizes = info.shape.iter().map(|size| i64::try_from(*size).ok());
    let product = sizes.try_fold(1i64, |product, size| product.checked_mul(size?.max(1)));
    let shape = info.shape.iter().map(|size| i64::try_from(*size));
    let (Some(_), Ok(shape)) = (product, shape.collect()) else {
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
            "not a safetensors file, or damaged: the header's length is over 100,000,000 bytes",
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

/// The bytes of the header, where the file holds them.
fn header(file: &[u8]) -> Option<&[u8]> {
    let length = file.get(..LENGTH_FIELD)?.try_into().ok()?;
    let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
    file.get(LENGTH_FIELD..LENGTH_FIELD.checked_add(length)?)
}

fn require_few_bytes(header: &[u8]) -> Result<()> {
    let size = header.len();
    if size <= MOST_HEADER_BYTES {
        return Ok(());
    }
    Err(Error::new(format!(
        "the header has {size} bytes, expected at most {MOST_HEADER_BYTES}"
    )))
}

/// The header's entries with their offsets.
fn entries(file: &[u8]) -> Option<Vec<(String, Value, usize, usize)>> {
    let Value::Object(header) = serde_json::from_slice(header(file)?).ok()? else {
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
    let ends = entries(file)?.into_iter().map(|(_, _, _, end)| end);
    let header = header(file)?.len().checked_add(LENGTH_FIELD)?;
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
