//! Texts with source offsets per character.

/// A character, and start and end of its source in UTF-16 units.
pub type MappedChar = (char, u32, u32);

/// Maps each character to its own position.
pub fn mapped_chars(text: &str) -> Vec<MappedChar> {
    let mut unit = 0;
    let each = text.chars().map(|character| {
        let start = unit;
        unit += character.len_utf16() as u32;
        (character, start, unit)
    });
    each.collect()
}

pub fn to_text(mapped: &[MappedChar]) -> String {
    mapped.iter().map(|(character, ..)| character).collect()
}

/// Start and end of the source of each UTF-16 unit.
pub fn utf16_offsets(mapped: &[MappedChar]) -> (Vec<u32>, Vec<u32>) {
    let units = mapped.iter().flat_map(|(character, start, end)| {
        std::iter::repeat_n((*start, *end), character.len_utf16())
    });
    units.unzip()
}
