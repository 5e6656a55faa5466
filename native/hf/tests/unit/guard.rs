//! Patterns find what they are to, and nothing beside it.

use super::looks::{Options, looks_of, places_in};
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
    let looks = looks_of(vec!["a".to_owned(), "😀é bb".to_owned()]);
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
