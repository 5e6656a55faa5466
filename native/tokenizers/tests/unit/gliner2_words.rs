use super::*;

fn words(text: &str) -> Vec<&str> {
    let ranges = split(text);
    ranges
        .iter()
        .map(|&(begin, end)| &text[begin..end])
        .collect()
}

/// Expected values: `WhitespaceTokenSplitter` of gliner2 2.1.0.
fn assert_words(text: &str, expected: &[&str]) {
    assert_eq!(words(text), expected, "{text}");
}

#[test]
fn splits_words_and_urls() {
    assert_words(
        "Dr. Jean-Luc_P (1799), e\u{301}té!",
        &[
            "Dr",
            ".",
            "Jean-Luc_P",
            "(",
            "1799",
            ")",
            ",",
            "e\u{301}té",
            "!",
        ],
    );
    assert_words(
        "HTTPS://a.b/c?d=1. www.x, http:/ WWW.\u{a0}httpſ://é",
        &[
            "HTTPS://a.b/c?d=1.",
            "www.x,",
            "http",
            ":",
            "/",
            "WWW",
            ".",
            "httpſ://é",
        ],
    );
    assert_words(
        "👩\u{200d}🚀 a\u{200d}b \u{301}",
        &["👩", "\u{200d}", "🚀", "a\u{200d}b", "\u{301}"],
    );
    assert_words("--a--b-", &["-", "-", "a", "-", "-", "b", "-"]);
    assert_words("日本語とÉcole №²½", &["日本語とÉcole", "№", "²½"]);
    assert_words(" \u{9}\u{a0}\u{2003}\u{1c}\u{85} ", &[]);
    assert_words("www.a@b.de http://", &["www.a@b.de", "http", ":", "/", "/"]);
}

#[test]
fn finds_email_addresses() {
    assert_words(
        "a.b@c.de a.b@c.de. x@y a@b.c a@b.cd9 a@b.cd-e.f %+_-@A.KK! @foo_1 @@a ..a@b.co.uk.x1",
        &[
            "a.b@c.de",
            "a.b@c.de",
            ".",
            "x",
            "@y",
            "a",
            "@b",
            ".",
            "c",
            "a@b.cd",
            "9",
            "a@b.cd",
            "-",
            "e",
            ".",
            "f",
            "%+_-@A.KK",
            "!",
            "@foo_1",
            "@",
            "@a",
            "..a@b.co.uk",
            ".",
            "x1",
        ],
    );
    assert_words(
        "a@b@c.de f@.de f@..de f@x.de.",
        &[
            "a", "@b", "@c", ".", "de", "f", "@", ".", "de", "f@..de", "f@x.de", ".",
        ],
    );
    assert_words(
        "é@b.de xé@b.de ıſ@İ.Kſ",
        &["é", "@b", ".", "de", "xé", "@b", ".", "de", "ıſ@İ.Kſ"],
    );
    assert_words(
        "a.b.c.d -a@b.de",
        &["a", ".", "b", ".", "c", ".", "d", "-a@b.de"],
    );
    assert_words(
        "user_name@mail.example.org. a@b.de_c a@1.de2 a@1.2de",
        &[
            "user_name@mail.example.org",
            ".",
            "a@b.de",
            "_c",
            "a@1.de",
            "2",
            "a",
            "@1",
            ".",
            "2de",
        ],
    );
}

#[test]
fn reads_long_runs_once() {
    // A backtracking regular expression would take hours.
    for (part, times, words) in [
        ("a.", 1 << 19, 2 << 19),
        ("a@b.", 1 << 18, 3 << 18),
        ("a-", 1 << 19, 2),
    ] {
        assert_eq!(split(&part.repeat(times)).len(), words, "{part}");
    }
}

#[test]
fn completes_texts_without_punctuation() {
    assert_eq!(complete(""), ".");
    assert_eq!(complete("a "), "a .");
    for text in ["a.", "a!", "a?"] {
        assert_eq!(complete(text), text);
    }
}
