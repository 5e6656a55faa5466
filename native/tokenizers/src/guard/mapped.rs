//! Text whose characters know what they are made of.

/// A character, and from where to where it lies in what was sent, in UTF-16 units.
pub type Mapped = (char, u32, u32);

/// Each character lies where it is.
pub fn as_it_is(text: &str) -> Vec<Mapped> {
    let mut unit = 0;
    let each = text.chars().map(|character| {
        let start = unit;
        unit += character.len_utf16() as u32;
        (character, start, unit)
    });
    each.collect()
}

pub fn text_of(mapped: &[Mapped]) -> String {
    mapped.iter().map(|(character, ..)| character).collect()
}

/// Of each UTF-16 unit where what it is made of begins, and ends.
pub fn units_of(mapped: &[Mapped]) -> (Vec<u32>, Vec<u32>) {
    let units = mapped.iter().flat_map(|(character, start, end)| {
        std::iter::repeat_n((*start, *end), character.len_utf16())
    });
    units.unzip()
}
