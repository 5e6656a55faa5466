use crate::common::{
    VOCAB_TXT, bert, directory, encode, ids, open, open_with_limit, roberta, vocab_json,
};
use serde_json::json;
use tokenizers_ffi::tokenizer::{Family, Tokenizer};

#[test]
fn bert_from_vocab_txt() {
    let tokenizer = open(&bert(&[]), Family::Bert);
    let encoding = encode(&tokenizer, "The film is GOOD!");
    assert_eq!(encoding.input_ids, [2, 5, 6, 7, 8, 12, 3]);
    assert_eq!(encoding.token_type_ids, [0; 7]);
    assert!(!encoding.truncated);
    assert_eq!(ids(&tokenizer, "badly"), [2, 9, 10, 3]);
    assert_eq!(ids(&tokenizer, "电影 café"), [2, 13, 14, 15, 3]);
    assert_eq!(ids(&tokenizer, ""), [2, 3]);
    assert_eq!(ids(&tokenizer, "[MASK] [SEP]x"), [2, 4, 3, 1, 3]);
}

#[test]
fn bert_settings() {
    let cased = bert(&[("tokenizer_config.json", r#"{"do_lower_case": false}"#)]);
    assert_eq!(ids(&open(&cased, Family::Bert), "The café"), [2, 17, 16, 3]);
    let stripped = r#"{"do_lower_case": false, "strip_accents": true}"#;
    let stripped = bert(&[("tokenizer_config.json", stripped)]);
    assert_eq!(
        ids(&open(&stripped, Family::Bert), "The café"),
        [2, 17, 15, 3]
    );
    let joined = bert(&[(
        "tokenizer_config.json",
        r#"{"tokenize_chinese_chars": false}"#,
    )]);
    assert_eq!(ids(&open(&joined, Family::Bert), "电影 电"), [2, 1, 13, 3]);
    let other_tokens = r#"{"cls_token": "the", "sep_token": {"content": "film"}}"#;
    let other_tokens = bert(&[("tokenizer_config.json", other_tokens)]);
    assert_eq!(ids(&open(&other_tokens, Family::Bert), "good"), [5, 8, 6]);
}

/// transformers reads only the vocabulary from tokenizer.json for the classes that it implements.
#[test]
fn bert_from_tokenizer_json() {
    let vocab: serde_json::Map<_, _> = VOCAB_TXT
        .lines()
        .zip(0..)
        .map(|(token, id)| (token.to_owned(), json!(id)))
        .collect();
    let file = json!({
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
        "decoder": null, "added_tokens": [],
        "truncation": {"direction": "Left", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "model": {"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]",
                  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    })
    .to_string();
    let known = directory(&[("tokenizer.json", &file)]);
    assert_eq!(
        ids(&open(&known, Family::Bert), "The film GOOD"),
        [2, 5, 6, 8, 3]
    );
    let cut = encode(
        &open_with_limit(&known, Family::Bert, 4),
        "the film is good",
    );
    assert_eq!((cut.input_ids, cut.truncated), (vec![2, 7, 8, 3], true));

    let class = r#"{"tokenizer_class": "PreTrainedTokenizerFast"}"#;
    let as_it_is = directory(&[("tokenizer.json", &file), ("tokenizer_config.json", class)]);
    assert_eq!(
        ids(&open(&as_it_is, Family::Bert), "The film GOOD"),
        [17, 6, 1]
    );
    assert_eq!(
        ids(&open(&known, Family::Unknown), "The film GOOD"),
        [17, 6, 1]
    );
    let class = r#"{"tokenizer_class": "BertTokenizer"}"#;
    let named = directory(&[("tokenizer.json", &file), ("tokenizer_config.json", class)]);
    assert_eq!(
        ids(&open(&named, Family::Unknown), "The film GOOD"),
        [2, 5, 6, 8, 3]
    );
}

#[test]
fn post_processor_of_tokenizer_json() {
    let template = json!([{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                          {"Sequence": {"id": "A", "type_id": 1}},
                          {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]);
    let file = json!({
        "post_processor": {"type": "TemplateProcessing", "single": template, "pair": template,
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3},
                  "unk_token": "[UNK]"},
    })
    .to_string();
    let settings =
        |names| json!({"tokenizer_class": "Other", "model_input_names": names}).to_string();
    let typed = settings(json!(["input_ids", "token_type_ids"]));
    let typed = directory(&[("tokenizer.json", &file), ("tokenizer_config.json", &typed)]);
    let encoding = encode(&open_with_limit(&typed, Family::Bert, 4), "a b a");
    assert_eq!(encoding.input_ids, [1, 3, 0, 2]);
    assert_eq!(encoding.token_type_ids, [0, 1, 1, 1]);
    assert!(encoding.truncated);
    let untyped = settings(json!(["input_ids"]));
    let untyped = directory(&[
        ("tokenizer.json", &file),
        ("tokenizer_config.json", &untyped),
    ]);
    assert_eq!(
        encode(&open(&untyped, Family::Bert), "a").token_type_ids,
        [0; 3]
    );
}

#[test]
fn roberta_from_vocab_json_and_merges() {
    let tokenizer = open(&roberta(&[]), Family::Roberta);
    assert_eq!(ids(&tokenizer, "abcd ab e"), [0, 13, 11, 9, 8, 2]);
    assert_eq!(ids(&tokenizer, " <mask> a"), [0, 9, 14, 9, 4, 2]);
    let settings = r#"{"add_prefix_space": true,
        "mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": true}}"#;
    let prefixed = open(
        &roberta(&[("tokenizer_config.json", settings)]),
        Family::Roberta,
    );
    assert_eq!(ids(&prefixed, "ab"), [0, 11, 2]);
    assert_eq!(ids(&prefixed, "ab  <mask>"), [0, 11, 14, 2]);
}

#[test]
fn roberta_from_tokenizer_json() {
    for merges in [
        json!(["a b", "Ġ ab", "c d", "ab cd"]),
        json!([["a", "b"], ["Ġ", "ab"], ["c", "d"], ["ab", "cd"]]),
    ] {
        let file = json!({"model": {"type": "BPE", "vocab": vocab_json(), "merges": merges}});
        let tokenizer = directory(&[("tokenizer.json", &file.to_string())]);
        assert_eq!(
            ids(&open(&tokenizer, Family::Roberta), "abcd ab"),
            [0, 13, 11, 2]
        );
    }
}

#[test]
fn sentence_piece_classes() {
    let vocab = json!([
        ["<s>", 0.0],
        ["<pad>", 0.0],
        ["</s>", 0.0],
        ["<unk>", 0.0],
        ["▁", -3.0],
        ["a", -2.0],
        ["▁ab", -1.0],
        ["b", -2.0]
    ]);
    let file = json!({"normalizer": null, "model": {"type": "Unigram", "vocab": vocab}});
    let file = file.to_string();
    for family in [Family::XlmRoberta, Family::Camembert] {
        let tokenizer = open(&directory(&[("tokenizer.json", &file)]), family);
        assert_eq!(
            ids(&tokenizer, "ab  ba\u{2603}"),
            [0, 6, 4, 7, 5, 3, 2],
            "{family:?}"
        );
    }
}

#[test]
fn padding_id_of_the_token_that_the_settings_name() {
    assert_eq!(open(&bert(&[]), Family::Bert).pad_token_id(), Some(0));
    assert_eq!(open(&roberta(&[]), Family::Roberta).pad_token_id(), Some(1));
    for (settings, expected) in [
        (r#"{"pad_token": "the"}"#, Some(5)),
        (r#"{"pad_token": "another one"}"#, Some(18)),
        (r#"{"pad_token": null}"#, None),
    ] {
        let directory = bert(&[("tokenizer_config.json", settings)]);
        assert_eq!(
            open(&directory, Family::Bert).pad_token_id(),
            expected,
            "{settings}"
        );
    }
}

#[test]
fn queries_are_filled_up_with_the_mask_else_with_what_ends_a_text() {
    let masked = open(&bert(&[]), Family::Bert);
    assert_eq!(masked.expansion_token_id(), Some(4));
    assert_eq!(masked.token_to_id("film"), Some(6));
    assert_eq!(masked.token_to_id("filmed"), None);
    let none = r#"{"mask_token": null, "eos_token": "[SEP]"}"#;
    let ended = open(&bert(&[("tokenizer_config.json", none)]), Family::Bert);
    assert_eq!(ended.expansion_token_id(), Some(3));
}

#[test]
fn added_tokens() {
    let settings = json!({
        "additional_special_tokens": ["<new>"],
        "added_tokens_decoder": {"18": {"content": "good film", "special": false}},
    });
    let tokenizer = bert(&[("tokenizer_config.json", &settings.to_string())]);
    let tokenizer = open(&tokenizer, Family::Bert);
    assert_eq!(ids(&tokenizer, "the Good Film <new>"), [2, 5, 18, 19, 3]);
    let older = bert(&[
        (
            "special_tokens_map.json",
            r#"{"additional_special_tokens": ["<new>"]}"#,
        ),
        ("added_tokens.json", r#"{"<new>": 18}"#),
    ]);
    assert_eq!(ids(&open(&older, Family::Bert), "<new>bad"), [2, 18, 9, 3]);
}

#[test]
fn any_text_is_encoded() {
    let bert = open(&bert(&[]), Family::Bert);
    let roberta = open(&roberta(&[]), Family::Roberta);
    let long_word = "a".repeat(100_000);
    for text in [
        "",
        " ",
        "\0",
        "\0the\0",
        "\u{fffd}",
        "\u{301}\u{301}",
        "👨‍👩‍👧",
        "\u{10ffff}",
        &long_word,
    ] {
        for tokenizer in [&bert, &roberta] {
            let encoding = encode(tokenizer, text);
            assert!((2..=16).contains(&encoding.input_ids.len()), "{text:?}");
        }
    }
    assert_eq!(ids(&bert, "\0the\0 \u{fffd}film"), [2, 5, 6, 3]);
}

#[test]
fn threads_encode_at_once() {
    let tokenizer = open(&roberta(&[]), Family::Roberta);
    let encode_some = |tokenizer: &Tokenizer, seed: usize| -> Vec<Vec<i64>> {
        let text = |index: usize| "ab cd e abcd ".repeat((index * seed) % 17);
        (0..200).map(|index| ids(tokenizer, &text(index))).collect()
    };
    let alone: Vec<_> = (0..8).map(|seed| encode_some(&tokenizer, seed)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|seed| {
                scope.spawn({
                    let tokenizer = &tokenizer;
                    move || encode_some(tokenizer, seed)
                })
            })
            .collect();
        for (thread, expected) in threads.into_iter().zip(&alone) {
            assert_eq!(&thread.join().expect("no panic"), expected);
        }
    });
}
