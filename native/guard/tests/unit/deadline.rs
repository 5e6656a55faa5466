//! A windowed search finds the same matches as a search of the whole text, and stops at its deadline.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use super::all_variants;
use crate::patterns::{Patterns, Search, Source};
use crate::scan::{Deadline, MatchLimits, StopReason, find_matches};
use crate::text_variants::{VariantOptions, text_variants};

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
        let (variants, _) = text_variants(vec![text.clone()], &VariantOptions::default());
        let search = |deadline| {
            let begun = Instant::now();
            let options = MatchLimits {
                max_matches: 1000,
                deadline,
            };
            let (matches, reason) = find_matches(&patterns, &variants, &options);
            assert_eq!(matches, []);
            (begun.elapsed(), reason)
        };
        let whole = (0..3).map(|_| search(Deadline::default())).min().unwrap();
        assert_eq!(whole.1, StopReason::Completed);
        // Other load on the machine may delay a single attempt.
        let mut tries = (0..20).map(|_| search(Deadline::after(whole.0 / 8)));
        let truncates_early = |(time, reason)| reason == StopReason::Deadline && time < whole.0 / 2;
        assert!(tries.any(truncates_early), "{whole:?}");
    }
}

#[test]
fn variants_are_made_until_the_deadline() {
    let text = "\u{430}nd &amp; YW5uLmxlZUBleGFtcGxlLm9yZw== ".repeat(10_000);
    let options = |deadline| VariantOptions {
        deadline,
        ..all_variants()
    };
    let count = |deadline| {
        text_variants(vec![text.clone()], &options(deadline))
            .0
            .len()
    };
    assert!(count(Deadline::default()) > 3);
    assert_eq!(count(Deadline::after(Duration::ZERO)), 1);
}
