//! Structure-aware protobuf mutator: changes one field and updates the lengths of its parents.

use crate::random::{Random, mutate_bytes};

struct Field {
    tag: u64,
    /// Content of the field; without the length for length-delimited fields.
    content: Vec<u8>,
}

/// Returns `None` if the bytes are not a message.
pub fn mutate(message: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut fields = read(message)?;
    let index = random.below(fields.len());
    match random.below(8) {
        0 => drop(fields.remove(index)),
        1 => {
            let Field { tag, content } = &fields[index];
            let copy = Field {
                tag: *tag,
                content: content.clone(),
            };
            fields.push(copy);
        }
        2 => {
            let other = random.below(fields.len());
            fields.swap(index, other);
        }
        3 => fields[index].tag ^= 1 << random.below(7),
        _ => {
            let Field { tag, content } = &mut fields[index];
            let inner = if *tag & 7 == 2 {
                mutate(content, random)
            } else {
                None
            };
            match inner {
                Some(inner) if random.below(4) > 0 => *content = inner,
                _ => mutate_bytes(content),
            }
        }
    }
    Some(write(&fields))
}

fn read(mut message: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let (tag, rest) = varint(message)?;
        let (start, size) = match tag & 7 {
            0 => (rest, rest.len() - varint(rest)?.1.len()),
            1 => (rest, 8),
            5 => (rest, 4),
            2 => {
                let (size, rest) = varint(rest)?;
                (rest, usize::try_from(size).ok()?)
            }
            _ => return None,
        };
        fields.push(Field {
            tag,
            content: start.get(..size)?.to_vec(),
        });
        message = &start[size..];
    }
    (!fields.is_empty()).then_some(fields)
}

fn write(fields: &[Field]) -> Vec<u8> {
    let mut message = Vec::new();
    for Field { tag, content } in fields {
        push_varint(&mut message, *tag);
        if tag & 7 == 2 {
            push_varint(&mut message, content.len() as u64);
        }
        message.extend(content);
    }
    message
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if *byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
