//! Patterns find what they are to, and nothing beside it.

use super::looks::{Look, Options, Views, looks_of, places_in};
use super::patterns::{Patterns, Source};

fn found(source: Source, text: &str) -> Vec<String> {
    let patterns = Patterns::compile([source]).unwrap();
    let mut found = Vec::new();
    patterns.find(text, |_, range| {
        found.push(text[range].to_owned());
        true
    });
    found
}

fn kind(name: &str, text: &str) -> Vec<String> {
    found(Source::Kind(name), text)
}

#[test]
fn cards_are_told_by_their_check_digit() {
    let card = "4111 1111 1111 1111";
    for text in [
        format!("x{card}, y"),
        format!("12 {card} 99"),
        format!("1234 5678 {card}"),
    ] {
        assert_eq!(kind("card", &text), [card]);
    }
    assert_eq!(kind("card", "4111-1111-1111-1111"), ["4111-1111-1111-1111"]);
    assert_eq!(kind("card", "378282246310005"), ["378282246310005"]);
    assert!(kind("card", "4111 1111 1111 1112").is_empty());
    assert!(kind("card", "94111111111111111").is_empty());
    assert!(kind("card", "0000 0000 0000 0000").is_empty());
    let digits = "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1";
    assert_eq!(kind("card", digits), [digits]);
}

#[test]
fn ibans_are_told_by_country_length_and_check_digits() {
    let iban = "DE89 3704 0044 0532 0130 00";
    assert_eq!(kind("iban", &format!("to {iban} and then")), [iban]);
    assert_eq!(
        kind("iban", "AB12DE89370400440532013000x"),
        ["DE89370400440532013000"]
    );
    assert_eq!(
        kind("iban", "gb82west12345698765432"),
        ["gb82west12345698765432"]
    );
    assert!(kind("iban", "DE88 3704 0044 0532 0130 00").is_empty());
    assert!(kind("iban", "ZZ89 3704 0044 0532 0130 00").is_empty());
}

#[test]
fn addresses_numbers_and_links() {
    assert_eq!(
        kind("email", "<Ann.Lee+x@mail.example.org>."),
        ["Ann.Lee+x@mail.example.org"]
    );
    assert_eq!(kind("email", "an@ü.example, a@b"), ["an@ü.example"]);
    assert_eq!(
        kind("ip", "from 10.0.0.1:80, 256.1.1.1, 1.2.3."),
        ["10.0.0.1"]
    );
    assert_eq!(
        kind("ip", "[2001:db8::1] std::dead::beef 12:30:45"),
        ["2001:db8::1"]
    );
    assert_eq!(kind("phone", "+49 (30) 901820, +1"), ["+49 (30) 901820"]);
    assert!(kind("phone", "+1234567890123456").is_empty());
    assert_eq!(
        kind("url", "(see https://a.example/x?y=1)."),
        ["https://a.example/x?y=1"]
    );
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
fn places_are_utf16_units() {
    let patterns = Patterns::compile([Source::Regex("b+"), Source::Regex("é")]).unwrap();
    let (looks, _) = looks_of(texts(["a", "😀é bb"]), &Views::default());
    let options = |most_places| Options {
        most_places,
        timeout: None,
    };
    let (places, _) = places_in(&patterns, &looks, &options(10));
    let of = |place: &super::Place| (place.pattern, place.look, place.start, place.end);
    assert_eq!(
        places.iter().map(of).collect::<Vec<_>>(),
        [(0, 1, 4, 6), (1, 1, 2, 3)]
    );
    assert_eq!(places_in(&patterns, &looks, &options(1)).0.len(), 1);
}

fn texts<const COUNT: usize>(parts: [&str; COUNT]) -> Vec<String> {
    parts.map(str::to_owned).to_vec()
}

fn all_views() -> Views {
    Views {
        forms: true,
        decoded: true,
        joined: true,
        most: 100,
    }
}

fn views(text: &str) -> Vec<(String, String)> {
    let (looks, is_all) = looks_of(texts([text]), &all_views());
    assert!(is_all);
    for Look {
        text, starts, ends, ..
    } in &looks[1..]
    {
        assert_eq!([starts.len(), ends.len()], [text.encode_utf16().count(); 2]);
        assert!(starts.iter().zip(ends).all(|(start, end)| start <= end));
    }
    looks
        .into_iter()
        .skip(1)
        .map(|look| (look.view, look.text))
        .collect()
}

fn view(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

#[test]
fn what_hides_nothing_has_no_views() {
    for text in [
        "Plain words, 12 of them - “quoted”, naïve café: internationalization.",
        "👩‍👩‍👧 ❤️ 👍🏽",
        "Привет, как дела сегодня",
        "日本語のテキスト",
    ] {
        assert_eq!(views(text), [], "{text}");
    }
}

#[test]
fn forms_are_made_one_of_the_other() {
    assert_eq!(views("ig\u{200b}no\u{202e}re"), [view("visible", "ignore")]);
    assert_eq!(views("ｉｇｎｏｒｅ ①"), [view("compatible", "ignore 1")]);
    assert_eq!(views("іgnоrе Іt ٤١"), [view("latin", "ignore It 41")]);
    assert_eq!(views("раураl"), [view("latin", "paypal")]);
    let all = "i\u{ad}ｇnоre";
    let expected = [
        ("visible", "iｇnоre"),
        ("compatible", "ignоre"),
        ("latin", "ignore"),
    ];
    assert_eq!(views(all), expected.map(|(name, text)| view(name, text)));
}

#[test]
fn what_is_written_in_other_characters_is_read() {
    let once = "aWdub3JlIGFsbCBvZiBpdA";
    assert_eq!(
        views(&format!("x: {once}==.")),
        [view("decoded", "ignore all of it")]
    );
    let cut = "aWdub3Jl\nIGFsbCBv ZiBpdA==";
    assert_eq!(views(cut), [view("decoded", "ignore all of it")]);
    let shifted = format!("xy{once}");
    assert!(
        views(&shifted)
            .iter()
            .any(|(_, text)| text.contains("gnore all of it"))
    );
    let nested = "YVdkdWIzSmxJR0ZzYkNCdlppQnBkQT09";
    let expected = [
        ("decoded", "aWdub3JlIGFsbCBvZiBpdA=="),
        ("decoded decoded", "ignore all of it"),
    ];
    assert_eq!(views(nested), expected.map(|(name, text)| view(name, text)));
    let tags: String = "ignore"
        .chars()
        .map(|one| char::from_u32(0xe0000 + one as u32).unwrap())
        .collect();
    assert_eq!(
        views(&format!("a{tags}")),
        [view("visible", "a"), view("decoded", "ignore")]
    );
}

#[test]
fn places_of_views_are_those_of_what_was_sent() {
    let (looks, _) = looks_of(
        texts(["😀 a\u{200b}b ﬁ aWdub3JlIGFsbCBvZiBpdA=="]),
        &all_views(),
    );
    let at = |name: &str, wanted: &str| {
        let look = looks.iter().find(|look| look.view == name).unwrap();
        let start = look.text[..look.text.find(wanted).unwrap()]
            .encode_utf16()
            .count();
        let end = start + wanted.encode_utf16().count();
        (look.starts[start], look.ends[end - 1])
    };
    assert_eq!(at("visible", "ab"), (3, 6));
    assert_eq!(at("compatible", "fi"), (7, 8));
    assert_eq!(at("compatible", "😀"), (0, 2));
    assert_eq!(at("decoded", "ignore"), (9, 17));
    assert_eq!(at("decoded", "gno"), (10, 15));
}

#[test]
fn parts_are_looked_at_together() {
    let joined = |parts| {
        let (looks, _) = looks_of(texts(parts), &all_views());
        let texts = looks
            .into_iter()
            .filter(|look| look.view.starts_with("joined"));
        texts
            .map(|look| (look.view, look.text, look.part))
            .collect::<Vec<_>>()
    };
    let of = |view: &str, text: &str| (view.to_owned(), text.to_owned(), 2);
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
fn too_many_views_are_said() {
    let (looks, is_all) = looks_of(
        texts(["a\u{200b}ｂ"]),
        &Views {
            most: 1,
            ..all_views()
        },
    );
    assert_eq!((looks.len(), is_all), (2, false));
}
