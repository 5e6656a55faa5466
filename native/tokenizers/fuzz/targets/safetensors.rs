//! Fuzz target of safetensors headers: accepted tensors lie inside the file, without overlaps or holes, and have the
//! size of their shape and type.

use crate::bridge::{Tensor, parse_safetensors};

pub fn safetensors(data: &[u8]) {
    let Ok(tensors) = parse_safetensors(data) else {
        return;
    };
    let header = u64::from_le_bytes(data[..8].try_into().expect("8 bytes"));
    let mut offset = 8 + usize::try_from(header).expect("a header inside the file");
    for tensor in &tensors {
        let Tensor {
            name,
            dtype,
            shape,
            begin,
            end,
        } = tensor;
        assert_eq!(*begin, offset, "{name}");
        assert!(begin <= end && *end <= data.len(), "{name}");
        offset = *end;
        assert!(shape.iter().all(|size| *size >= 0), "{name}: {shape:?}");
        let Some(bytes) = element_size(dtype) else {
            continue;
        };
        let sizes = shape.iter().map(|size| *size as u128);
        let count = sizes.fold(1, u128::saturating_mul);
        assert_eq!(count.saturating_mul(bytes), (end - begin) as u128, "{name}");
    }
    assert_eq!(offset, data.len(), "the tensors fill the file");
}

/// Size in bytes; `None` for types that the C++ code does not read.
fn element_size(dtype: &str) -> Option<u128> {
    Some(match dtype {
        "F64" | "I64" | "U64" => 8,
        "F32" | "I32" | "U32" => 4,
        "F16" | "BF16" | "I16" | "U16" => 2,
        "I8" | "U8" | "BOOL" => 1,
        _ => return None,
    })
}
