//! Valid values of each kind are found and fully covered in any context and encoding. The tests combine values,
//! contexts and encodings, exhaustively or at random with a fixed seed. `is_another` lists contexts that change a
//! value, such as a digit before a card number.

use std::ops::ControlFlow;

use super::values;
use super::writing::{ENCODINGS, Random};
use crate::patterns::{Patterns, Search, Source};
use crate::scan::{Deadline, MatchLimits, find_matches};
use crate::text_variants::{VariantOptions, text_variants};

const KINDS: [&str; 6] = ["email", "card", "iban", "ip", "phone", "url"];

const VALUES: [&[&str]; 6] = [
    &[
        "ann@example.org",
        "Ann.Lee+x@mail.example.org",
        "ann@example.xn--p1ai",
        "ann@xn--bcher-kva.example",
        "ann@b\u{fc}cher.example",
        "ann@\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}",
        "\u{438}\u{432}\u{430}\u{43d}@\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}",
        "\"ann lee\"@example.org",
        "o'neil_1@sub-domain.example.co",
        "ann@example\u{3002}org",
        "a1@1a.example",
    ],
    &[
        "4111111111111111",
        "4690 7439 1500 0808",
        "5555-5555-5555-4444",
        "378282246310005",
        "3782 822463 10005",
        "6011.1111.1111.1117",
        "3530  1113  3330  0000",
        "6200\r\n0000\r\n0000\r\n0005",
        "2223+0031+2200+3222",
        "30569309025904",
        "4222222222222",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111\u{2212}1111\u{2212}1111\u{2212}1111",
    ],
    &[
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "gb82west12345698765432",
        "GB82  WEST  1234  5698  7654  32",
        "FR14\r\n2004\r\n1010\r\n0505\r\n0001\r\n3M02\r\n606",
        "NO9386011117947",
        "MT84MALT011000012345MTLCAST001S",
    ],
    &[
        "10.0.0.1",
        "192.0.2.254",
        "255.255.255.255",
        "1.1.1.1",
        "2001:db8::1",
        "2001:db8:0:1:2:3:4:5",
        "fe80::1",
        "fe80::a1b2:c3d4",
        "::1",
        "::ffff:192.0.2.1",
        "64:ff9b::c000:201",
        "2001:DB8::",
        "2001:db8:85a3:8d3:1319:8a2e:370:7348",
    ],
    &[
        "+491701234567",
        "+49 30 12345678",
        "+49 (30) 901820",
        "+49 30 / 12345678",
        "+1-202-555-0123",
        "+44 20 7946 0018",
        "+86 10 6552 9988",
        "+1 (202) 555-0123",
        "+3545551234",
        "+49\n30\n12345678",
    ],
    &[
        "https://example.org/x",
        "http://example.org",
        "HTTPS://EXAMPLE.ORG/?q=1&r=2#f",
        "https://en.example.org/wiki/A_(b)",
        "https://10.0.0.1:8080/x",
        "https://b\u{fc}cher.example/\u{e9}",
    ],
];

/// Texts before and after a value.
const SURROUNDINGS: [&str; 96] = [
    "",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "x",
    "word",
    "word ",
    "Word:",
    "word: ",
    "word=",
    "word_",
    "word-",
    "x.",
    "a",
    "f",
    "abc ",
    "IP:",
    "IPv6:",
    "host:",
    "node:",
    "tel:",
    "tel.",
    "mailto:",
    "src:",
    "ip_",
    "_",
    ":",
    "::",
    ".",
    "..",
    "...",
    ",",
    ", ",
    ";",
    "; ",
    "-",
    "--",
    " - ",
    "\u{2013}",
    "/",
    "//",
    "\\",
    "|",
    "*",
    "**",
    "`",
    "```",
    "'",
    "\"",
    "(",
    ")",
    "[",
    "](",
    "](<",
    "{",
    "}",
    "<",
    ">",
    "<b>",
    "</b>",
    "=",
    "==",
    "#",
    "!",
    "?",
    "~",
    "\u{e9}",
    "\u{436}",
    "\u{3b1}",
    "\u{5d0}",
    "\u{627}",
    "\u{670d}\u{52a1}\u{5668}",
    "\u{7684}\u{65e5}\u{5fd7}",
    "\u{3042}",
    "\u{ac00}",
    "\u{e01}",
    "\u{3002}",
    "\u{ff0c}",
    "\u{1f600}",
    "\u{300c}",
    "{\"a\":\"",
    "\",\"b\":1}",
    "?a=1&b=",
    "&c=2",
    " WARN [main] ",
    ":443",
    ":8080:tcp",
    " 10115 Berlin",
    " (2024)",
    " 2024-05-01",
    "12:30 ",
    "Nr. 7 ",
];

/// Numbers, dates, times and values of other kinds next to a value.
const NUMBERS: [&str; 30] = [
    "1 ",
    "1, ",
    "12 ",
    "7: ",
    "1234 ",
    "1234567 ",
    "2024-05-01 ",
    "2024-05-01T12:30:45Z ",
    "12:30:45,123 ",
    "3.5 ",
    "1.2.3 ",
    "\u{20ac} 12.50, ",
    "99% ",
    "#42 ",
    " 1",
    " 12",
    " 123",
    " 1234",
    " 12345",
    "\n2024-05-01",
    ", 12/27",
    " 123 12/27",
    " 10.0.0.2",
    "-10.0.0.2",
    " +4930123456",
    " 4111111111111111",
    " DE89370400440532013000",
    " ann@example.org",
    " fe80::2",
    " https://example.org",
];

/// True if the context may change the value.
fn is_another(kind: usize, value: &str, before: &str, after: &str) -> bool {
    let first = after.chars().next().unwrap_or(' ');
    let last = before.chars().next_back().unwrap_or(' ');
    let is_digit = |one: char| one.is_ascii_digit();
    // More than four numbers with dots between them are no address.
    let is_number_before = before
        .strip_suffix('.')
        .unwrap_or(before)
        .ends_with(is_digit);
    let is_number_behind = after
        .strip_prefix('.')
        .unwrap_or(after)
        .starts_with(is_digit);
    match KINDS[kind] {
        "card" => is_digit(last) || is_digit(first),
        "phone" => is_digit(first),
        "ip" if value.contains(':') => {
            let is_name = first.is_ascii_alphanumeric() || "_:.".contains(first);
            last.is_ascii_hexdigit()
                || first.is_ascii_hexdigit()
                // An identifier (`f32::max`) or a longer address may follow.
                || (value.ends_with("::") && is_name)
                || (value.contains('.') && is_number_behind)
        }
        "ip" => is_number_before || is_number_behind,
        _ => false,
    }
}

fn each_kind() -> [Patterns; 6] {
    KINDS.map(|kind| Patterns::compile([Source::Kind(kind)]).unwrap())
}

fn is_covered(patterns: &Patterns, text: &str, start: usize, end: usize) -> bool {
    let mut covered = start;
    let mut search = Search {
        found: |_, range: std::ops::Range<usize>| {
            if range.start <= covered {
                covered = covered.max(range.end);
            }
            ControlFlow::Continue(())
        },
        is_late: || false,
    };
    let _ = patterns.find(text, &mut search);
    covered >= end
}

fn assert_none(failures: &[String], tried: usize) {
    let some: Vec<&String> = failures.iter().step_by(failures.len() / 60 + 1).collect();
    assert!(
        failures.is_empty(),
        "{} of {tried}: {some:#?}",
        failures.len()
    );
}

#[test]
fn every_value_is_found_in_all_surroundings() {
    let patterns = each_kind();
    let mut failures = Vec::new();
    let mut tried = 0;
    let mut all = SURROUNDINGS.to_vec();
    all.extend(NUMBERS);
    for (kind, values) in VALUES.iter().enumerate() {
        for value in *values {
            for before in &all {
                for after in &all {
                    if is_another(kind, value, before, after) {
                        continue;
                    }
                    tried += 1;
                    let text = format!("{before}{value}{after}");
                    let start = before.len();
                    if !is_covered(&patterns[kind], &text, start, start + value.len()) {
                        failures.push(format!("{}: {before:?} {value:?} {after:?}", KINDS[kind]));
                    }
                }
            }
        }
    }
    assert!(tried > 500_000);
    assert_none(&failures, tried);
}

fn units(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}

#[test]
fn any_value_is_found_in_any_surroundings() {
    type Draw = fn(&mut Random) -> String;
    const DRAWS: [Draw; 6] = [
        values::email,
        values::card,
        values::iban,
        values::ip,
        values::phone,
        values::url,
    ];
    const TRIED: usize = 300_000;
    let patterns = each_kind();
    let mut random = Random(13);
    let mut failures = Vec::new();
    let mut all = SURROUNDINGS.to_vec();
    all.extend(NUMBERS);
    let mut tried = 0;
    while tried < TRIED {
        let kind = tried % KINDS.len();
        let value = DRAWS[kind](&mut random);
        // Several contexts in a row.
        let [mut before, mut after] = [String::new(), String::new()];
        for _ in 0..random.below(3) {
            before += random.one_of(&all);
            after += random.one_of(&all);
        }
        if is_another(kind, &value, &before, &after) {
            continue;
        }
        tried += 1;
        let text = format!("{before}{value}{after}");
        if !is_covered(
            &patterns[kind],
            &text,
            before.len(),
            before.len() + value.len(),
        ) {
            failures.push(format!("{}: {before:?} {value:?} {after:?}", KINDS[kind]));
        }
    }
    assert_none(&failures, tried);
}

#[test]
fn every_value_is_found_however_it_is_written() {
    let patterns = each_kind();
    let variant_options = VariantOptions {
        forms: true,
        decoded: true,
        joined: false,
        max_variants: 1000,
        ..VariantOptions::default()
    };
    let options = MatchLimits {
        max_matches: usize::MAX,
        deadline: Deadline::default(),
    };
    let mut random = Random(43);
    let mut failures = Vec::new();
    const TRIED: usize = 30_000;
    let mut tried = 0;
    while tried < TRIED {
        let kind = random.below(KINDS.len());
        let value = random.one_of(VALUES[kind]);
        let before = random.one_of(&SURROUNDINGS);
        let after = random.one_of(&SURROUNDINGS);
        let (name, encoding) = ENCODINGS[tried % ENCODINGS.len()];
        // A preceding backslash would escape the first character.
        let is_shared = before.ends_with('\\') && ["JSON in JSON", "all at once"].contains(&name);
        if is_shared || is_another(kind, value, before, after) {
            continue;
        }
        tried += 1;
        // The context is either plain or encoded like the value.
        let is_all = random.below(2) == 0;
        let mut write = |text: &str, is_written: bool| -> String {
            let each = text.chars();
            match is_written {
                true => each.map(|one| encoding(one, &mut random)).collect(),
                false => text.to_owned(),
            }
        };
        let [before, written, after] = [
            write(before, is_all),
            write(value, true),
            write(after, is_all),
        ];
        let text = format!("{before}{written}{after}");
        let (variants, _) = text_variants(vec![text.clone()], &variant_options);
        let (matches, _) = find_matches(&patterns[kind], &variants, &options);
        let mut spans: Vec<(u32, u32)> = matches
            .iter()
            .map(|found| {
                let variant = &variants[found.variant];
                let [first, last] = [found.start as usize, found.end as usize - 1];
                match variant.steps.as_str() {
                    "" => (found.start, found.end),
                    _ => (variant.starts[first], variant.ends[last]),
                }
            })
            .collect();
        spans.sort();
        let end =
            units(&before) + units(written.trim_end_matches(crate::normalization::is_invisible));
        let mut covered = units(&before);
        for (from, to) in spans {
            if from <= covered {
                covered = covered.max(to);
            }
        }
        if covered < end {
            failures.push(format!("{}, {name}: {value:?} in {text:?}", KINDS[kind]));
        }
    }
    assert_none(&failures, tried);
}
