//! Each kind of PII finds its values, and no text that only resembles a value.

use super::kind;

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
