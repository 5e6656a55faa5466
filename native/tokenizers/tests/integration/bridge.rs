//! Functions that C++ calls.

use crate::common::{bert, directory};
use tokenizers_ffi::bridge::{
    Encoding, Family, Input, Truncation, TruncationSide, open_tokenizer, parse_safetensors,
};

fn one_text(text: &[u8]) -> Input<'_> {
    Input {
        text,
        pair: b"",
        truncation: Truncation::LongestFirst,
        side: TruncationSide::TokenizerDefault,
        is_pair: false,
        max_tokens: 0,
    }
}

fn encoding(input_ids: &[i64], token_type_ids: &[i64], truncated: bool) -> Encoding {
    Encoding {
        input_ids: input_ids.to_vec(),
        token_type_ids: token_type_ids.to_vec(),
        truncated,
        too_long: String::new(),
    }
}

#[test]
fn encodes_bytes() {
    let directory = bert(&[]);
    let path = directory.path().as_os_str().as_encoded_bytes();
    let mut tokenizer = open_tokenizer(path, Family::Bert, 8).expect("a tokenizer");
    let ids = |tokenizer: &tokenizers_ffi::bridge::Tokenizer, text: &[u8]| {
        let encoding = tokenizer.encode(&one_text(text)).expect("an encoding");
        assert_eq!(encoding.token_type_ids, vec![0; encoding.input_ids.len()]);
        assert_eq!(encoding.too_long, "");
        (encoding.input_ids, encoding.truncated)
    };
    assert_eq!(ids(&tokenizer, b""), (vec![2, 3], false));
    assert_eq!(ids(&tokenizer, b"the \0film"), (vec![2, 5, 6, 3], false));
    // Half a character, a lone surrogate and 0xff become U+FFFD, which BERT's normalizer removes.
    let invalid = b"the \xe7\x94 film \xed\xa0\x80 is \xff";
    assert_eq!(ids(&tokenizer, invalid), (vec![2, 5, 6, 7, 3], false));
    let long = b"good ".repeat(9);
    assert_eq!(ids(&tokenizer, &long), (vec![2, 8, 8, 8, 8, 8, 8, 3], true));
    assert_eq!((tokenizer.max_length(), tokenizer.pad_token_id()), (8, 0));
    assert_eq!(tokenizer.limit_positions(4), Ok(()));
    assert_eq!(tokenizer.limit_positions(9), Ok(()));
    assert_eq!(ids(&tokenizer, &long), (vec![2, 8, 8, 3], true));
    let message = tokenizer.limit_positions(2).expect_err("no room");
    assert!(message.starts_with("maximum length: 2 tokens"), "{message}");
    assert_eq!(tokenizer.max_length(), 4);
}

#[test]
fn encodes_pairs() {
    let directory = bert(&[]);
    let path = directory.path().as_os_str().as_encoded_bytes();
    let tokenizer = open_tokenizer(path, Family::Bert, 8).expect("a tokenizer");
    let encode = |truncation: Truncation, side: TruncationSide| {
        let input = Input {
            pair: b"bad film \xff is the",
            truncation,
            side,
            ..one_text(b"the film is good")
        };
        tokenizer.encode(&input).expect("an encoding")
    };
    let types = [0, 0, 0, 0, 1, 1, 1, 1];
    let from_right = encoding(&[2, 5, 6, 3, 9, 6, 7, 3], &types, true);
    let from_left = encoding(&[2, 7, 8, 3, 6, 7, 5, 3], &types, true);
    let cut = |side| encode(Truncation::LongestFirst, side);
    assert_eq!(cut(TruncationSide::TokenizerDefault), from_right);
    assert_eq!(cut(TruncationSide::Right), from_right);
    assert_eq!(cut(TruncationSide::Left), from_left);
    let refused = encode(Truncation::DoNotTruncate, TruncationSide::TokenizerDefault);
    let expected = "The two texts together have more than 8 tokens.";
    assert_eq!(
        (refused.too_long.as_str(), refused.input_ids),
        (expected, vec![])
    );
}

#[test]
fn failures_have_messages() {
    let open = |path: &[u8], family| open_tokenizer(path, family, 8).err().expect("an error");
    let directory = directory(&[]);
    let path = directory.path().as_os_str().as_encoded_bytes();
    let missing = open(path, Family::Bert);
    assert!(missing.starts_with("vocab.txt: not found"), "{missing}");
    let nowhere = open(b"a\0b\xff", Family::Roberta);
    assert_eq!(nowhere, "tokenizer directory: not found");
    let message = parse_safetensors(b"text").expect_err("an error");
    assert!(message.starts_with("not a safetensors file"), "{message}");
}

#[test]
fn states_the_version() {
    assert_eq!(
        tokenizers_ffi::bridge::tokenizers_version(),
        "tokenizers 0.23.2"
    );
}
