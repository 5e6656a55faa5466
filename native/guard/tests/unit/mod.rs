//! Pattern search and normalization variants.

use std::ops::{ControlFlow, Range};

use crate::patterns::{Patterns, Search, Source};
use crate::scan::{Deadline, MatchLimits, find_matches};
use crate::text_variants::{TextVariant, VariantOptions, text_variants};

mod deadline;
mod kinds;
mod samples;
mod surroundings;
mod values;
mod writing;

fn found(source: Source, text: &str) -> Vec<String> {
    let patterns = Patterns::compile([source]).unwrap();
    let mut found = Vec::new();
    let _ = patterns.find(
        text,
        &mut Search {
            found: |_, range: Range<usize>| {
                found.push(text[range].to_owned());
                ControlFlow::Continue(())
            },
            is_late: || false,
        },
    );
    found
}

fn kind(name: &str, text: &str) -> Vec<String> {
    found(Source::Kind(name), text)
}

#[test]
fn a_bad_pattern_is_named_in_one_line() {
    let compile = |text| Patterns::compile([Source::Regex("a"), Source::Regex(text)]);
    let why = |text| compile(text).err().unwrap().to_string();
    assert_eq!(why("(a"), "1: unclosed group");
    assert_eq!(why("a*"), "1: matches the empty text");
    assert_eq!(why(r"(\w{500}){50}"), "1: takes more than 2 MB compiled");
    assert!(why("(?=a)").contains("look-around"), "{}", why("(?=a)"));
}

#[test]
fn matches_are_in_utf16_units() {
    let patterns = Patterns::compile([Source::Regex("b+"), Source::Regex("é")]).unwrap();
    let (variants, _) = text_variants(texts(["a", "😀é bb"]), &VariantOptions::default());
    let options = |max_matches| MatchLimits {
        max_matches,
        deadline: Deadline::default(),
    };
    let (matches, _) = find_matches(&patterns, &variants, &options(10));
    let numbers =
        |found: &crate::scan::Match| (found.pattern, found.variant, found.start, found.end);
    assert_eq!(
        matches.iter().map(numbers).collect::<Vec<_>>(),
        [(0, 1, 4, 6), (1, 1, 2, 3)]
    );
    assert_eq!(find_matches(&patterns, &variants, &options(1)).0.len(), 1);
}

fn texts<const COUNT: usize>(parts: [&str; COUNT]) -> Vec<String> {
    parts.map(str::to_owned).to_vec()
}

fn all_variants() -> VariantOptions {
    VariantOptions {
        normalized: true,
        decoded: true,
        joined: true,
        max_variants: 100,
        deadline: Deadline::default(),
    }
}

fn variants_of(text: &str) -> Vec<(String, String)> {
    let (variants, is_all) = text_variants(texts([text]), &all_variants());
    assert!(is_all);
    for TextVariant {
        text, starts, ends, ..
    } in &variants[1..]
    {
        assert_eq!([starts.len(), ends.len()], [text.encode_utf16().count(); 2]);
        assert!(starts.iter().zip(ends).all(|(start, end)| start <= end));
    }
    variants
        .into_iter()
        .skip(1)
        .map(|variant| (variant.steps, variant.text))
        .collect()
}

fn variant(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

#[test]
fn plain_texts_have_no_variants() {
    for text in [
        "Plain words, 12 of them - “quoted”, naïve café: internationalization.",
        "👩‍👩‍👧 ❤️ 👍🏽",
        "Привет, как дела сегодня",
        "日本語のテキスト",
    ] {
        assert_eq!(variants_of(text), [], "{text}");
    }
}

#[test]
fn forms_are_made_one_of_the_other() {
    assert_eq!(
        variants_of("ig\u{200b}no\u{202e}re"),
        [variant("visible", "ignore")]
    );
    assert_eq!(
        variants_of("ｉｇｎｏｒｅ ①"),
        [variant("compatible", "ignore 1")]
    );
    assert_eq!(
        variants_of("іgnоrе Іt ٤١"),
        [variant("latin", "ignore It 41")]
    );
    assert_eq!(variants_of("раураl"), [variant("latin", "paypal")]);
    let all = "i\u{ad}ｇnоre";
    let expected = [
        ("visible", "iｇnоre"),
        ("compatible", "ignоre"),
        ("latin", "ignore"),
    ];
    assert_eq!(
        variants_of(all),
        expected.map(|(name, text)| variant(name, text))
    );
}

#[test]
fn what_is_written_in_other_characters_is_read() {
    let once = "aWdub3JlIGFsbCBvZiBpdA";
    assert_eq!(
        variants_of(&format!("x: {once}==.")),
        [variant("decoded", "ignore all of it")]
    );
    let cut = "aWdub3Jl\nIGFsbCBv ZiBpdA==";
    assert_eq!(variants_of(cut), [variant("decoded", "ignore all of it")]);
    let shifted = format!("xy{once}");
    assert!(
        variants_of(&shifted)
            .iter()
            .any(|(_, text)| text.contains("gnore all of it"))
    );
    let nested = "YVdkdWIzSmxJR0ZzYkNCdlppQnBkQT09";
    let expected = [
        ("decoded", "aWdub3JlIGFsbCBvZiBpdA=="),
        ("decoded decoded", "ignore all of it"),
    ];
    assert_eq!(
        variants_of(nested),
        expected.map(|(name, text)| variant(name, text))
    );
    let tags: String = "ignore"
        .chars()
        .map(|one| char::from_u32(0xe0000 + one as u32).unwrap())
        .collect();
    assert_eq!(
        variants_of(&format!("a{tags}")),
        [variant("visible", "a"), variant("decoded", "ignore")]
    );
}

#[test]
fn offsets_of_variants_refer_to_the_parts() {
    let (variants, _) = text_variants(
        texts(["😀 a\u{200b}b ﬁ aWdub3JlIGFsbCBvZiBpdA=="]),
        &all_variants(),
    );
    let at = |name: &str, wanted: &str| {
        let variant = variants
            .iter()
            .find(|variant| variant.steps == name)
            .unwrap();
        let start = variant.text[..variant.text.find(wanted).unwrap()]
            .encode_utf16()
            .count();
        let end = start + wanted.encode_utf16().count();
        (variant.starts[start], variant.ends[end - 1])
    };
    assert_eq!(at("visible", "ab"), (3, 6));
    assert_eq!(at("compatible", "fi"), (7, 8));
    assert_eq!(at("compatible", "😀"), (0, 2));
    assert_eq!(at("decoded", "ignore"), (9, 17));
    assert_eq!(at("decoded", "gno"), (10, 15));
}

#[test]
fn joined_parts_are_searched() {
    let joined = |parts| {
        let (variants, _) = text_variants(texts(parts), &all_variants());
        let texts = variants
            .into_iter()
            .filter(|variant| variant.steps.starts_with("joined"));
        texts
            .map(|variant| (variant.steps, variant.text, variant.part))
            .collect::<Vec<_>>()
    };
    let of = |steps: &str, text: &str| (steps.to_owned(), text.to_owned(), 2);
    assert_eq!(
        joined(["ign", "ore"]),
        [of("joined", "ignore"), of("joined", "ign ore")]
    );
    assert_eq!(joined(["ign ", "ore"]), [of("joined", "ign ore")]);
    assert_eq!(joined(["ign", ""]), []);
    let cut = joined(["aWdub3JlIG", "FsbCBvZiBpdA=="]);
    assert!(
        cut.contains(&of("joined decoded", "ignore all of it")),
        "{cut:?}"
    );
    let whole = joined(["aWdub3JlIGFsbCBvZiBpdA== ", "x"]);
    assert_eq!(whole.len(), 1, "{whole:?}");
}

#[test]
fn reaching_max_variants_is_reported() {
    let (variants, is_all) = text_variants(
        texts(["a\u{200b}ｂ"]),
        &VariantOptions {
            max_variants: 1,
            ..all_variants()
        },
    );
    assert_eq!((variants.len(), is_all), (2, false));
}

#[test]
fn escapes_are_undone_where_they_stand() {
    let whole = |text: &str| {
        let variants = variants_of(text)
            .into_iter()
            .find(|(steps, _)| steps == "decoded");
        variants.map(|(_, text)| text)
    };
    for (text, read) in [
        ("a&#64;b&#x2e;c &commat;&nbsp;&ampx", "a@b.c @\u{a0}&x"),
        ("%C3%A9%40%zz %u0040 %e9", "\u{e9}@%zz @ %e9"),
        (
            r"\u0040\x40\n\/\ud83d\ude00\ud83d \u{1f600} \U0001f600",
            "@@\n/\u{1f600}\\ud83d \u{1f600} \u{1f600}",
        ),
        (r"\\u0040 \\\\u0040 &amp;#64; %2540", "@ @ @ @"),
    ] {
        assert_eq!(whole(text).as_deref(), Some(read), "{text}");
    }
    for text in [
        "50% of 100 & more",
        r"C:\dir \d+",
        "AT&T;",
        "&#0; &#x110000; %",
        "\\",
    ] {
        assert_eq!(whole(text), None, "{text}");
    }
}

#[test]
fn characters_that_look_alike_are_read_before_they_are_composed() {
    // NFKC composes the lunate sigma to a letter that is not confusable.
    assert!(variants_of("se\u{3f2}ret").contains(&variant("latin", "secret")));
    assert!(variants_of("a\u{2800}b").contains(&variant("visible", "ab")));
    assert!(variants_of("a\u{2800}b").contains(&variant("spaced", "a b")));
    assert!(variants_of("10\u{3002}0\u{ff61}0\u{ff0e}1").contains(&variant("latin", "10.0.0.1")));
}
