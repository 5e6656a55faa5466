//! Reader of safetensors headers.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use safetensors::tensor::{Metadata, SafeTensorError, SafeTensors, TensorInfo};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

pub use crate::bridge::Tensor;
use errors::{Result, anyhow, bail, ensure};

/// Size in bytes of the length field before the header.
const LENGTH_FIELD: usize = 8;

/// Maximum size of the header. A tensor takes about 130 bytes.
const MAX_HEADER_BYTES: usize = 8 * 1024 * 1024;

/// Validates the header of a complete file. Returns the tensors in the order of their offsets.
pub fn parse(file: &[u8]) -> Result<Vec<Tensor>> {
    if let Some(header) = header(file) {
        let size = header.len();
        ensure!(
            size <= MAX_HEADER_BYTES,
            "the header has {size} bytes, expected at most {MAX_HEADER_BYTES}"
        );
        if let Some(name) = repeated_name(header) {
            bail!("tensor `{name}`: repeated key");
        }
    }
    let metadata = SafeTensors::read_metadata(file);
    let (header_length, metadata) =
        metadata.map_err(|error| anyhow!(explain(&error, file).unwrap_or(error.to_string())))?;
    let data = LENGTH_FIELD + header_length;
    let names = metadata.offset_keys().into_iter();
    names.map(|name| tensor(&metadata, name, data)).collect()
}

fn tensor(metadata: &Metadata, name: String, data: usize) -> Result<Tensor> {
    let Some(info) = metadata.info(&name) else {
        bail!("tensor `{name}`: not in the header");
    };
    // A dimension of 0 counts as 1: strides are products of the other dimensions.
    let mut sizes = info.shape.iter().map(|size| i64::try_from(*size).ok());
    let product = sizes.try_fold(1i64, |product, size| product.checked_mul(size?.max(1)));
    let shape = info.shape.iter().map(|size| i64::try_from(*size));
    let (Some(_), Ok(shape)) = (product, shape.collect()) else {
        bail!("tensor `{name}`: shape: too large");
    };
    Ok(Tensor {
        dtype: info.dtype.to_string(),
        shape,
        begin: data + info.data_offsets.0,
        end: data + info.data_offsets.1,
        name,
    })
}

/// Error message with the name of the tensor, which the crate's message lacks.
fn explain(error: &SafeTensorError, file: &[u8]) -> Option<String> {
    let size = file.len();
    Some(match error {
        SafeTensorError::HeaderTooSmall => {
            format!("not a safetensors file: {size} bytes, too few for a header")
        }
        SafeTensorError::InvalidHeaderLength => format!(
            "truncated, or not a safetensors file: the header's length goes beyond the file's \
             {size} bytes"
        ),
        SafeTensorError::HeaderTooLarge => {
            "not a safetensors file, or damaged: the header's length is over 100,000,000 bytes"
                .to_owned()
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            let ends = infos(file)?
                .into_iter()
                .map(|(_, info)| info.data_offsets.1);
            let end = header(file)?.len() + LENGTH_FIELD;
            let end = end.checked_add(ends.max().unwrap_or(0))?;
            format!("truncated or damaged: {size} bytes, {end} expected")
        }
        SafeTensorError::TensorInvalidInfo | SafeTensorError::ValidationOverflow => {
            let mut infos = infos(file)?;
            infos.sort_by_key(|(_, info)| info.data_offsets);
            let (name, _) = infos.iter().find(|(_, info)| !has_its_size(info))?;
            format!("tensor `{name}`: data_offsets: not the size that its shape and dtype need")
        }
        SafeTensorError::InvalidOffset(name) => format!(
            "tensor `{name}`: data_offsets: overlapping, reversed, or with a hole before them"
        ),
        _ => return None,
    })
}

/// Bytes of the header, or `None` if the file is too short.
fn header(file: &[u8]) -> Option<&[u8]> {
    let length = file.get(..LENGTH_FIELD)?.try_into().ok()?;
    let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
    file.get(LENGTH_FIELD..LENGTH_FIELD.checked_add(length)?)
}

/// Entries of the header.
fn infos(file: &[u8]) -> Option<Vec<(String, TensorInfo)>> {
    let mut header: BTreeMap<String, &RawValue> = serde_json::from_slice(header(file)?).ok()?;
    header.remove("__metadata__");
    let infos = header.into_iter();
    let infos = infos.map(|(name, info)| Some((name, serde_json::from_str(info.get()).ok()?)));
    infos.collect()
}

fn has_its_size(info: &TensorInfo) -> bool {
    let (begin, end) = info.data_offsets;
    let mut sizes = info.shape.iter().copied();
    let count = sizes.try_fold(1usize, usize::checked_mul);
    let bits = count.and_then(|count| count.checked_mul(info.dtype.bitsize()));
    let bytes = end.checked_sub(begin);
    bits == bytes.and_then(|bytes| bytes.checked_mul(8))
}

/// First repeated name, of which the crate would use the last tensor. `None` for an invalid header, which the crate
/// reports.
fn repeated_name(header: &[u8]) -> Option<String> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = Option<String>;

        fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut names = HashSet::new();
            let mut repeated = None;
            while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
                if repeated.is_none() {
                    repeated = names.replace(name);
                }
            }
            Ok(repeated)
        }
    }
    let mut json = serde_json::Deserializer::from_slice(header);
    json.deserialize_map(Names).ok().flatten()
}
