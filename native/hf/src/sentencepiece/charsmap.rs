//! The compiled normalization rules of a SentencePiece model: a Darts double-array trie over UTF-8
//! bytes, whose values are offsets into a text of NUL-terminated replacements.
//!
//! The crate that applies them trusts the file: it reserves what a length says and indexes without a
//! check. So everything that a text can reach is looked at first.

use tokenizers::normalizers::Precompiled;

/// Offsets of child nodes are XORed with a byte: a node needs the whole block of this size.
const BLOCK: usize = 256;

/// Of a character, in bytes: a text may consist of it. Unicode's longest one has 33.
const LONGEST_REPLACEMENT: usize = 256;

pub fn parse(charsmap: &[u8]) -> Result<Precompiled, String> {
    check(charsmap)?;
    Precompiled::from(charsmap).map_err(|error| error.to_string())
}

pub fn check(charsmap: &[u8]) -> Result<(), String> {
    let Some((size, rest)) = charsmap.split_first_chunk::<4>() else {
        return Err("too short".to_owned());
    };
    let size = u32::from_le_bytes(*size) as usize;
    if size % 4 != 0 || size > rest.len() {
        let left = rest.len();
        return Err(format!("a trie of {size} bytes announced, {left} left"));
    }
    let (trie, replacements) = rest.split_at(size);
    let replacements =
        std::str::from_utf8(replacements).map_err(|error| format!("replacements: {error}"))?;
    let units = trie.chunks_exact(4);
    let units: Vec<u32> = units
        .map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]))
        .collect();
    check_trie(&units, replacements)
}

/// Walks all that can be reached from the root, each node once.
fn check_trie(units: &[u32], replacements: &str) -> Result<(), String> {
    let Some(root) = units.first() else {
        return Err("an empty trie".to_owned());
    };
    let mut seen = vec![false; units.len()];
    let mut waiting = vec![offset(*root)];
    while let Some(node) = waiting.pop() {
        if node | (BLOCK - 1) >= units.len() {
            return Err(format!("trie: node {node} lies outside"));
        }
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        for byte in 1..BLOCK {
            let position = node ^ byte;
            let unit = units[position];
            if label(unit) != byte {
                continue;
            }
            let child = position ^ offset(unit);
            if has_leaf(unit) {
                let value = units.get(child).map(|leaf| leaf & 0x7fff_ffff);
                let start = value.map(|value| value as usize);
                let Some(replacement) = start.and_then(|start| replacements.get(start..)) else {
                    return Err(format!("trie: node {child}: no replacement at {start:?}"));
                };
                let bytes = replacement.bytes().take(LONGEST_REPLACEMENT + 1);
                if bytes.take_while(|byte| *byte != 0).count() > LONGEST_REPLACEMENT {
                    return Err(format!(
                        "trie: node {child}: a replacement of more than {LONGEST_REPLACEMENT} bytes"
                    ));
                }
            }
            waiting.push(child);
        }
    }
    Ok(())
}

fn label(unit: u32) -> usize {
    (unit & 0x8000_00ff) as usize
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

fn offset(unit: u32) -> usize {
    (unit as usize >> 10) << ((unit & 1 << 9) >> 6)
}
