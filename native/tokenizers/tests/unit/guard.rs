//! Patterns find what they are to, and nothing beside it.

use std::ops::{ControlFlow, Range};

use super::looks::{Look, Views, looks_of};
use super::patterns::{Patterns, Search, Source};
use super::search::{Deadline, Options, places_in};

#[path = "guard/deadline.rs"]
mod deadline;
#[path = "guard/kinds.rs"]
mod kinds;
#[path = "guard/surroundings.rs"]
mod surroundings;
#[path = "guard/values.rs"]
mod values;
#[path = "guard/writing.rs"]
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
