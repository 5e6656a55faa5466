//! Patterns find what they are to, and nothing beside it.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use super::looks::{Deadline, Left, Look, Options, Views, looks_of, places_in};
use super::patterns::{Patterns, Search, Source};

#[path = "guard/surroundings.rs"]
mod surroundings;

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
        deadline: Deadline::default(),
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
        deadline: Deadline::default(),
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

#[test]
fn what_has_the_form_of_a_value_only_is_none() {
    for (name, text) in [
        (
            "email",
            "@ann, a@b, git@v1.2, user@host, x @ y.org, #@!.com, a@.com",
        ),
        (
            "card",
            "4111 1111 1111 1112, 1234567890123456, 978-3-16-148410-0, 2024-05-01 12:30:45.123456",
        ),
        (
            "card",
            "0x4111111111111112 94111111111111111 550e8400-e29b-41d4-a716-446655440000",
        ),
        (
            "card",
            "| 12    4111   23    1111 |\n| 11    1111   11    1111 |",
        ),
        (
            "iban",
            "DE88370400440532013000, GB82 WEST 1234, AB12CD34EF56, 3f2a8b1c9d0e4f5a6b7c",
        ),
        (
            "ip",
            "1.2.3, 1.2.3.4.5, 1.3.6.1.4.1.311, 256.1.1.1, 1.2.3.256, 01.02.03.04, 10.15, v2.0.0",
        ),
        (
            "ip",
            "12:30:45, 00:1B:44:11:3A:B7, a::b::c, std::vec::Vec, std::f32::MAX, core::cafe::add()",
        ),
        (
            "ip",
            "p::before, a:hover::after, std::dead::beef, fn f() -> u8::Err, ns::f1(), x::e2e::a1()",
        ),
        (
            "ip",
            "SHA1: 3A:5B:11:AA:00:12:34:56:78:9A:BC:DE:F0:11:22:33:44:55:66:77",
        ),
        (
            "phone",
            "+1, 1+2+3+4, a + 12 - 3, +123456, ++i, C++11, +1234567890123456, GMT+01:00",
        ),
        (
            "url",
            "http, https:, https:/x, ftp://example.org, example.org/x",
        ),
    ] {
        assert_eq!(kind(name, text), [""; 0], "{name}");
    }
}

#[test]
fn punctuation_around_a_link_is_none_of_it() {
    for (text, url) in [
        ("(https://a.example/x_(y))", "https://a.example/x_(y)"),
        ("[x](https://a.example/x).", "https://a.example/x"),
        ("https://a.example/[1], b", "https://a.example/[1]"),
        ("**https://a.example**", "https://a.example"),
    ] {
        assert_eq!(kind("url", text), [url]);
    }
    let brackets = format!("https://a.example/{}", ")".repeat(1 << 20));
    assert_eq!(kind("url", &brackets), ["https://a.example/"]);
}

#[test]
fn windows_of_a_pattern_find_what_a_search_at_once_finds() {
    let text = "aé\u{1f600}b ab, aab. ".repeat(9_000);
    for source in [
        "a+b",
        "a{1,3}b",
        r"\ba",
        "é.",
        r"(?m)a\b|b$",
        r"b\z|.\z",
        "(?:a|ab)(?:c|b)?",
        r"\b|ab",
    ] {
        let at_once: Vec<String> = regex::Regex::new(source)
            .unwrap()
            .find_iter(&text)
            .filter(|one| !one.is_empty())
            .map(|one| format!("{:?}", one.range()))
            .collect();
        let mut found = Vec::new();
        let patterns = Patterns::compile([Source::Regex(source)]).unwrap();
        let mut search = Search {
            found: |_, range: Range<usize>| {
                found.push(format!("{range:?}"));
                ControlFlow::Continue(())
            },
            is_late: || false,
        };
        assert!(patterns.find(&text, &mut search).is_continue());
        assert_eq!(found, at_once, "{source}");
    }
}

#[test]
fn the_deadline_holds_where_nothing_is_found() {
    let text = "film and more, 12:30, 1.5; ".repeat(40_000);
    let many: Vec<String> = (0..60)
        .map(|index| format!("needle{index}x{{2}}"))
        .collect();
    let bounded = many.iter().map(|text| Source::Regex(text));
    let one = Patterns::compile([Source::Regex(r"(?:[a-y]\W?){30}z")]).unwrap();
    let kinds = ["email", "card", "iban", "ip", "phone", "url"].map(Source::Kind);
    let all = Patterns::compile(bounded.chain(kinds)).unwrap();
    for patterns in [all, one] {
        let (looks, _) = looks_of(vec![text.clone()], &Views::default());
        let ask = |deadline| {
            let begun = Instant::now();
            let options = Options {
                most_places: 1000,
                deadline,
            };
            let (places, left) = places_in(&patterns, &looks, &options);
            assert_eq!(places, []);
            (begun.elapsed(), left)
        };
        let whole = (0..3).map(|_| ask(Deadline::default())).min().unwrap();
        assert_eq!(whole.1, Left::Nothing);
        // Other work on the machine may hold up any try.
        let mut tries = (0..20).map(|_| ask(Deadline::after(whole.0 / 8)));
        let is_cut = |(time, left)| left == Left::Time && time < whole.0 / 2;
        assert!(tries.any(is_cut), "{whole:?}");
    }
}

#[test]
fn views_are_made_until_the_deadline() {
    let text = "\u{430}nd &amp; YW5uLmxlZUBleGFtcGxlLm9yZw== ".repeat(10_000);
    let views = |deadline| Views {
        deadline,
        ..all_views()
    };
    let count = |deadline| looks_of(vec![text.clone()], &views(deadline)).0.len();
    assert!(count(Deadline::default()) > 3);
    assert_eq!(count(Deadline::after(Duration::ZERO)), 1);
}

#[test]
fn escapes_are_undone_where_they_stand() {
    let whole = |text: &str| {
        let views = views(text).into_iter().find(|(view, _)| view == "decoded");
        views.map(|(_, text)| text)
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
    // The sigma is composed to one that looks like no letter.
    assert!(views("se\u{3f2}ret").contains(&view("latin", "secret")));
    assert!(views("a\u{2800}b").contains(&view("visible", "ab")));
    assert!(views("a\u{2800}b").contains(&view("spaced", "a b")));
    assert!(views("10\u{3002}0\u{ff61}0\u{ff0e}1").contains(&view("latin", "10.0.0.1")));
}
