//! Validation of a SentencePiece model's compiled normalization rules: a Darts double-array trie over UTF-8 bytes,
//! whose values are offsets into NUL-terminated replacements.
//!
//! The crate that applies the rules trusts the file: it reserves memory by an unchecked length, and indexes without
//! checks. Therefore, everything that a text can reach is validated first.

use tokenizers::normalizers::Precompiled;

use errors::{At, Result, bail, ensure};

/// Size of a node's block. Offsets of child nodes are XORed with a byte.
const BLOCK: usize = 256;

/// Maximum size in bytes of a character's replacement. The longest one in Unicode has 33 bytes.
const MAX_REPLACEMENT: usize = 256;

pub fn parse(charsmap: &[u8]) -> Result<Precompiled> {
    check(charsmap)?;
    Ok(Precompiled::from(charsmap)?)
}

pub fn check(charsmap: &[u8]) -> Result<()> {
    let Some((size, rest)) = charsmap.split_first_chunk::<4>() else {
        bail!("too short");
    };
    let size = u32::from_le_bytes(*size) as usize;
    let left = rest.len();
    ensure!(
        size % 4 == 0 && size <= left,
        "a trie of {size} bytes announced, {left} left"
    );
    let (trie, replacements) = rest.split_at(size);
    let replacements = std::str::from_utf8(replacements).at("replacements")?;
    let units = trie.chunks_exact(4);
    let units = units.map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]));
    check_trie(&units.collect::<Vec<_>>(), replacements)
}

/// Visits each node that is reachable from the root once.
fn check_trie(units: &[u32], replacements: &str) -> Result<()> {
    let Some(root) = units.first() else {
        bail!("an empty trie");
    };
    let mut seen = vec![false; units.len()];
    let mut pending = vec![offset(*root)];
    while let Some(node) = pending.pop() {
        let is_inside = node | (BLOCK - 1) < units.len();
        ensure!(is_inside, "trie: node {node} lies outside");
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
                    bail!("trie: node {child}: no replacement at {start:?}");
                };
                let bytes = replacement.bytes().take(MAX_REPLACEMENT + 1);
                ensure!(
                    bytes.take_while(|byte| *byte != 0).count() <= MAX_REPLACEMENT,
                    "trie: node {child}: a replacement of more than {MAX_REPLACEMENT} bytes"
                );
            }
            pending.push(child);
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
