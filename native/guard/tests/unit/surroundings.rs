//! Valid values of each kind are found and fully covered in any context and encoding. The tests combine values,
//! contexts and encodings, exhaustively or at random with a fixed seed. `is_another` lists contexts that change a
//! value, such as a digit before a card number.

use std::ops::ControlFlow;

use super::samples::{NUMBERS, SURROUNDINGS, VALUES};
use super::values;
use super::writing::{ENCODINGS, Random};
use crate::patterns::{Patterns, Search, Source};
use crate::scan::{Deadline, MatchLimits, find_matches};
use crate::text_variants::{VariantOptions, text_variants};

const KINDS: [&str; 6] = ["email", "card", "iban", "ip", "phone", "url"];

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
        normalized: true,
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
