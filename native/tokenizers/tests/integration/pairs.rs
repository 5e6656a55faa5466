//! Text pairs. parity.rs compares many pairs with transformers.

use crate::common::{bert, directory, open, open_with_limit, roberta, vocab_json};
use serde_json::{Value, json};
use tokenizers_ffi::tokenizer::Family;
use tokenizers_ffi::tokenizer::{Encoding, Input, Tokenizer, Truncation};

fn encode(tokenizer: &Tokenizer, text: &str, pair: &str) -> Encoding {
    let input = Input {
        text,
        pair: Some(pair),
        ..Input::default()
    };
    tokenizer.encode(input).expect("an encoding")
}

fn failure(tokenizer: &Tokenizer, input: Input) -> String {
    let error = tokenizer.encode(input).expect_err("an error");
    assert!(error.is::<tokenizers_ffi::TooLong>(), "{error}");
    error.to_string()
}

/// Ids and token types.
fn read(encoding: Encoding) -> (Vec<i64>, Vec<i64>) {
    (encoding.input_ids, encoding.token_type_ids)
}

#[test]
fn token_types_are_those_that_the_class_gives_its_model() {
    let ids = vec![2, 5, 6, 3, 8, 3];
    let typed = vec![0, 0, 0, 0, 1, 1];
    let named = json!({"model_input_names": ["input_ids", "token_type_ids"]});
    let unnamed = json!({"model_input_names": ["input_ids", "attention_mask"]});
    let distilbert = json!({"tokenizer_class": "DistilBertTokenizerFast"});
    for (settings, types) in [
        (json!({}), &typed),
        (named, &typed),
        (unnamed, &vec![0; 6]),
        (distilbert, &vec![0; 6]),
    ] {
        let settings = settings.to_string();
        let tokenizer = open(&bert(&[("tokenizer_config.json", &settings)]), Family::Bert);
        let found = read(encode(&tokenizer, "the film", "good"));
        assert_eq!(found, (ids.clone(), types.clone()), "{settings}");
    }
    let tokenizer = open(&roberta(&[]), Family::Roberta);
    let found = read(encode(&tokenizer, "abcd", "e"));
    assert_eq!(found, (vec![0, 13, 2, 2, 8, 2], vec![0; 6]));
}

#[test]
fn an_empty_second_text_is_none_but_in_a_pair_and_a_blank_one_is_one() {
    let tokenizer = open(&bert(&[]), Family::Bert);
    let alone = tokenizer.encode("the film").expect("an encoding");
    assert_eq!(encode(&tokenizer, "the film", ""), alone);
    let blank = read(encode(&tokenizer, "the film", " \n"));
    assert_eq!(blank, (vec![2, 5, 6, 3, 3], vec![0, 0, 0, 0, 1]));
    let input = Input {
        text: "the film",
        pair: Some(""),
        is_pair: true,
        ..Input::default()
    };
    let pair = read(tokenizer.encode(input).expect("an encoding"));
    assert_eq!(pair, blank);
    let first = read(encode(&tokenizer, "", "the film"));
    assert_eq!(first, (vec![2, 3, 5, 6, 3], vec![0, 0, 1, 1, 1]));
}

#[test]
fn what_may_not_be_cut_says_so() {
    let tokenizer = open_with_limit(&bert(&[]), Family::Bert, 6);
    let long = "the film is good .";
    let of = |text, pair, truncation| Input {
        text,
        pair,
        truncation,
        ..Input::default()
    };
    for (input, message) in [
        (
            of(long, None, Truncation::DoNotTruncate),
            "The text has more than 6 tokens.",
        ),
        (
            of(long, Some("x"), Truncation::DoNotTruncate),
            "The two texts together have more than 6 tokens.",
        ),
        (
            of("x", Some(long), Truncation::OnlyFirst),
            "The two texts together have more than 6 tokens, and the second text leaves no \
             room for the first (only_first).",
        ),
        (
            of(long, Some("x"), Truncation::OnlySecond),
            "The two texts together have more than 6 tokens, and the first text leaves no \
             room for the second (only_second).",
        ),
        (
            of(long, None, Truncation::OnlySecond),
            "The text has more than 6 tokens, and there is no second text to truncate (only_second).",
        ),
    ] {
        assert_eq!(failure(&tokenizer, input), message);
    }
    let fits = of("the film is good", None, Truncation::DoNotTruncate);
    assert_eq!(tokenizer.encode(fits).expect("it fits").input_ids.len(), 6);
    // BERT adds three special tokens to a pair, RoBERTa four.
    let short = open_with_limit(&roberta(&[]), Family::Roberta, 3);
    assert_eq!(
        failure(&short, of("a", Some("b"), Truncation::LongestFirst)),
        "The limit of 3 tokens is less than the number of special tokens of a text pair."
    );
}

fn with_pair_template(pair: &Value) -> tempfile::TempDir {
    let special = |token: &str, kind: i64| json!({"SpecialToken": {"id": token, "type_id": kind}});
    let single = json!([special("<s>", 0), {"Sequence": {"id": "A", "type_id": 0}}]);
    let tokens = json!({"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}});
    let file = json!({
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair,
                           "special_tokens": tokens},
        "model": {"type": "BPE", "vocab": vocab_json(), "merges": []},
    });
    let settings = json!({"tokenizer_class": "PreTrainedTokenizerFast",
                          "model_input_names": ["input_ids", "token_type_ids"]});
    directory(&[
        ("tokenizer.json", &file.to_string()),
        ("tokenizer_config.json", &settings.to_string()),
    ])
}

#[test]
fn templates_of_tokenizer_json() {
    let text = |id: &str, kind: i64| json!({"Sequence": {"id": id, "type_id": kind}});
    let special = |token: &str| json!({"SpecialToken": {"id": token, "type_id": 3}});
    // A template with the second text first and its own token types.
    let turned = json!([text("B", 2), special("<s>"), text("A", 1)]);
    let tokenizer = open(&with_pair_template(&turned), Family::Bert);
    let found = read(encode(&tokenizer, "ab", "c"));
    assert_eq!(found, (vec![6, 0, 4, 5], vec![2, 3, 1, 1]));

    let unknown = json!([text("A", 0), special("<z>"), text("B", 0)]);
    let error = Tokenizer::open(with_pair_template(&unknown).path(), Family::Bert, 16).err();
    let message = error.expect("an error").to_string();
    assert!(message.ends_with("missing token `<z>`"), "{message}");

    // A template without the second text supports single texts only.
    let only_first = json!([text("A", 0)]);
    let tokenizer = open(&with_pair_template(&only_first), Family::Bert);
    let single = tokenizer.encode("ab").expect("an encoding");
    assert_eq!(single.input_ids, [0, 4, 5]);
    let input = Input {
        text: "a",
        pair: Some("b"),
        ..Input::default()
    };
    let error = tokenizer.encode(input).expect_err("no template");
    assert!(!error.is::<tokenizers_ffi::TooLong>());
    assert!(error.to_string().starts_with("post_processor: "), "{error}");
}
