use crate::common::{bert, encode, ids, open, open_with_limit};
use tokenizers_ffi::tokenizer::{Family, Input};

#[test]
fn truncation_keeps_the_special_tokens() {
    let text = "the film is good . the film is bad !";
    for (limit, settings, expected, cut) in [
        (5, "{}", vec![2, 5, 6, 7, 3], true),
        (16, r#"{"model_max_length": 4}"#, vec![2, 5, 6, 3], true),
        (
            16,
            r#"{"model_max_length": 4, "truncation_side": "left"}"#,
            vec![2, 9, 12, 3],
            true,
        ),
        (3, r#"{"model_max_length": 1e30}"#, vec![2, 5, 3], true),
        (3, r#"{"model_max_length": 512}"#, vec![2, 5, 3], true),
        (12, "{}", vec![2, 5, 6, 7, 8, 11, 5, 6, 7, 9, 12, 3], false),
    ] {
        let tokenizer = bert(&[("tokenizer_config.json", settings)]);
        let opened = open_with_limit(&tokenizer, Family::Bert, limit);
        let mut limited = open_with_limit(&tokenizer, Family::Bert, usize::MAX);
        limited.limit_positions(limit).expect("room for text");
        assert_eq!(limited.max_length(), opened.max_length(), "{settings}");
        let encoding = encode(&opened, text);
        assert_eq!(encode(&limited, text), encoding, "{settings}");
        assert_eq!(
            (encoding.input_ids, encoding.truncated),
            (expected, cut),
            "{settings}"
        );
    }
    let limited = bert(&[("tokenizer_config.json", r#"{"model_max_length": 4}"#)]);
    assert_eq!(open(&limited, Family::Bert).max_length(), 4);
}

#[test]
fn an_input_may_have_another_limit_up_to_the_positions() {
    let directory = bert(&[("tokenizer_config.json", r#"{"model_max_length": 6}"#)]);
    let tokenizer = open_with_limit(&directory, Family::Bert, 8);
    let text = "the film is good . the film is badly";
    for (max_tokens, expected) in [(None, 6), (Some(4), 4), (Some(7), 7), (Some(9), 8)] {
        let input = Input {
            text,
            max_tokens,
            ..Input::default()
        };
        let encoding = tokenizer.encode(input).expect("an encoding");
        assert_eq!(encoding.input_ids.len(), expected, "{max_tokens:?}");
        assert!(encoding.truncated, "{max_tokens:?}");
    }
}

#[test]
fn a_long_text_gives_what_its_whole_would() {
    let words = [
        "the film is ",
        "good. ",
        "badly!",
        "电影\n",
        "x\t",
        "[MASK] ",
        "café  ",
    ];
    let mut text = String::new();
    for index in 0..6_000 {
        text.push_str(words[(index * index + index / 7) % words.len()]);
    }
    // Without a limit, the whole text is encoded.
    let whole = ids(
        &open_with_limit(&bert(&[]), Family::Bert, usize::MAX),
        &text,
    );
    for limit in [3, 16, 512, 5_000] {
        let cut = ids(&open_with_limit(&bert(&[]), Family::Bert, limit), &text);
        assert_eq!(cut[..limit - 1], whole[..limit - 1], "{limit}");
        assert_eq!(cut[limit - 1..], [3], "{limit}");
    }
}
