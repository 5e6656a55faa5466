//! Fuzz target of text variants and pattern search. Every match must map to whole characters of the input, and a hidden
//! value must be found.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::escapes;
use crate::patterns::{Patterns, Source};
use crate::scan::{Deadline, Match, MatchLimits, find_matches};
use crate::text_variants::{self, TextVariant, VariantOptions};

const HEAD: usize = 3;
/// Separator of parts.
const SEPARATOR: u8 = 0xff;
const KINDS: [&str; 6] = ["email", "card", "iban", "ip", "phone", "url"];
/// A phrase, and runs that do not overlap.
const REGEXES: [&str; 3] = [r"(?i)ignore\W+all", r"\d+", r"[^\p{ASCII}]+"];
const SECRET: &str = "ann.lee@example.org";

/// The first three bytes select the options, the limits, and how the secret is hidden. The rest are the parts.
pub fn text_variants(data: &[u8]) {
    static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
        let sources = KINDS.map(Source::Kind).into_iter();
        Patterns::compile(sources.chain(REGEXES.map(Source::Regex))).expect("patterns")
    });
    let Some((head, text)) = data.split_at_checked(HEAD) else {
        return;
    };
    let parts: Vec<String> = text.split(|byte| *byte == SEPARATOR).map(read).collect();
    let options = VariantOptions {
        normalized: head[0] & 1 != 0,
        decoded: head[0] & 2 != 0,
        joined: head[0] & 4 != 0,
        max_variants: usize::from(head[1] & 31),
        deadline: Deadline::default(),
    };
    let limits = MatchLimits {
        max_matches: usize::from(head[1] >> 5) * 8,
        deadline: Deadline::default(),
    };
    let (variants, _) = text_variants::text_variants(parts.clone(), &options);
    // Parts, two joined texts, and the unescaped texts of each.
    let free = (parts.len() + 2) * escapes::MAX;
    assert!(variants.len() <= parts.len() + free + options.max_variants);
    let sent = variants.iter().filter(|variant| variant.steps.is_empty());
    for (variant, part) in sent.zip(&parts) {
        assert_eq!(&variant.text, part);
    }
    let boundaries = Boundaries::new(&parts);
    for variant in &variants {
        boundaries.check(variant);
    }
    let (matches, _) = find_matches(&PATTERNS, &variants, &limits);
    assert!(matches.len() <= limits.max_matches);
    for found in &matches {
        check_match(found, &variants[found.variant]);
    }
    hide(&PATTERNS, &parts.concat(), head[2]);
}

fn read(bytes: &[u8]) -> String {
    let text: Cow<str> = String::from_utf8_lossy(bytes);
    text.into_owned()
}

/// Character boundaries in UTF-16 units of each part and, at the end, of their concatenation.
struct Boundaries(Vec<Vec<bool>>);

impl Boundaries {
    fn new(parts: &[String]) -> Self {
        let all = parts.concat();
        let each = parts.iter().chain([&all]).map(|text| boundaries_of(text));
        Self(each.collect())
    }

    /// The sources of a variant are whole characters of its part, in order.
    fn check(&self, variant: &TextVariant) {
        let TextVariant {
            steps,
            part,
            text,
            starts,
            ends,
        } = variant;
        let units = text.encode_utf16().count();
        if steps.is_empty() {
            assert!(starts.is_empty() && ends.is_empty());
            return;
        }
        assert_eq!([starts.len(), ends.len()], [units; 2], "{steps}: {text:?}");
        let boundaries = &self.0[*part];
        for (start, end) in starts.iter().zip(ends) {
            assert!(start <= end, "{steps}: {text:?}");
            for offset in [start, end] {
                assert!(
                    boundaries[*offset as usize],
                    "{steps}: {offset} in {text:?}"
                );
            }
        }
        assert!(starts.is_sorted() && ends.is_sorted(), "{steps}: {text:?}");
    }
}

fn boundaries_of(text: &str) -> Vec<bool> {
    let mut boundaries = vec![true];
    for character in text.chars() {
        boundaries.extend((1..character.len_utf16()).map(|_| false));
        boundaries.push(true);
    }
    boundaries
}

fn check_match(found: &Match, variant: &TextVariant) {
    let boundaries = boundaries_of(&variant.text);
    let [start, end] = [found.start, found.end].map(|unit| unit as usize);
    let is_inside = start < end && end < boundaries.len();
    assert!(is_inside, "{found:?} in {:?}", variant.text);
    let is_whole = boundaries[start] && boundaries[end];
    assert!(is_whole, "{found:?} in {:?}", variant.text);
}

/// An e-mail address after any text is found, also with invisible characters in it and if it spans two parts.
fn hide(patterns: &Patterns, before: &str, choice: u8) {
    const INVISIBLE: [&str; 4] = ["", "\u{200b}", "\u{202e}", "\u{ad}"];
    let invisible = INVISIBLE[usize::from(choice & 3)];
    let written: String = SECRET
        .chars()
        .map(|one| format!("{one}{invisible}"))
        .collect();
    let sent = format!("{before} <{written}>");
    let split = usize::from(choice >> 2) * sent.chars().count() / 64;
    let split = sent
        .char_indices()
        .nth(split)
        .map_or(sent.len(), |(at, _)| at);
    let parts = [sent[..split].to_owned(), sent[split..].to_owned()].to_vec();
    let options = VariantOptions {
        normalized: true,
        decoded: false,
        joined: true,
        max_variants: 1000,
        deadline: Deadline::default(),
    };
    let limits = MatchLimits {
        max_matches: usize::MAX,
        deadline: Deadline::default(),
    };
    let (variants, is_complete) = text_variants::text_variants(parts, &options);
    assert!(is_complete);
    let (matches, _) = find_matches(patterns, &variants, &limits);
    let secret: Vec<u16> = SECRET.encode_utf16().collect();
    let is_found = matches.iter().any(|found| {
        let units: Vec<u16> = variants[found.variant].text.encode_utf16().collect();
        found.pattern == 0 && units[found.start as usize..found.end as usize] == secret
    });
    assert!(is_found, "{invisible:?} at {split} of {sent:?}");
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Inputs that reach most of the code, and all inputs that once failed.
    #[test]
    fn corpus_has_no_failures() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/text_variants");
        let mut count = 0;
        for entry in fs::read_dir(folder).expect("the corpus") {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            super::text_variants(&fs::read(&path).expect("a readable file"));
            count += 1;
        }
        assert!(count > 10, "{count} inputs");
    }
}
