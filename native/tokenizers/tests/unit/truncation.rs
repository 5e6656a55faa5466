use tokenizers::utils::truncation::{
    TruncationDirection, TruncationParams, TruncationStrategy, truncate_encodings,
};
use tokenizers::{Encoding, Token};

use super::*;

fn tokens(count: usize) -> Encoding {
    let token = |id: usize| Token::new(id as u32, String::new(), (0, 0));
    Encoding::from_tokens((0..count).map(token).collect(), 0)
}

/// Token counts after the crate's truncation; `None` if it fails.
fn of_crate(strategy: TruncationStrategy, counts: [usize; 2], room: usize) -> Option<[usize; 2]> {
    let parameters = TruncationParams {
        direction: TruncationDirection::Right,
        max_length: room,
        strategy,
        stride: 0,
    };
    let [first, second] = counts.map(tokens);
    let (first, second) = truncate_encodings(first, Some(second), &parameters).ok()?;
    Some([first.len(), second.expect("the second one").len()])
}

#[test]
fn keeps_what_the_crate_keeps() {
    let strategies = [
        (Truncation::LongestFirst, TruncationStrategy::LongestFirst),
        (Truncation::OnlyFirst, TruncationStrategy::OnlyFirst),
        (Truncation::OnlySecond, TruncationStrategy::OnlySecond),
    ];
    for (ours, theirs) in strategies {
        for first in 0..20 {
            for second in 0..20 {
                for room in 0..24 {
                    let counts = [first, second];
                    assert_eq!(
                        ours.kept_counts(counts, room).ok(),
                        of_crate(theirs, counts, room),
                        "{ours:?}: {counts:?} into {room}"
                    );
                }
            }
        }
    }
}

/// `Tokenizer::encode` counts long texts only up to `room` + 1 tokens.
#[test]
fn more_than_the_room_need_not_be_counted() {
    let any = [
        Truncation::LongestFirst,
        Truncation::OnlyFirst,
        Truncation::OnlySecond,
        Truncation::DoNotTruncate,
    ];
    for strategy in any {
        for first in 0..20_usize {
            for second in 0..20_usize {
                for room in 0..12 {
                    let mut seen = [first.min(room + 1), second.min(room + 1)];
                    if first > room && second > room && strategy.needs_longer_text(room) {
                        seen = [first, second];
                    }
                    assert_eq!(
                        strategy.kept_counts(seen, room),
                        strategy.kept_counts([first, second], room),
                        "{strategy:?}: {first} and {second} into {room}"
                    );
                }
            }
        }
    }
}

#[test]
fn one_text_is_cut_to_the_room() {
    for strategy in [Truncation::LongestFirst, Truncation::OnlyFirst] {
        assert_eq!(strategy.kept_counts([9, 0], 4), Ok([4, 0]));
        assert_eq!(strategy.kept_counts([4, 0], 4), Ok([4, 0]));
    }
    assert_eq!(
        Truncation::OnlySecond.kept_counts([9, 0], 4),
        Err(TruncationError::Second)
    );
    assert_eq!(
        Truncation::DoNotTruncate.kept_counts([5, 0], 4),
        Err(TruncationError::NotAllowed)
    );
    assert_eq!(Truncation::DoNotTruncate.kept_counts([4, 0], 4), Ok([4, 0]));
}
