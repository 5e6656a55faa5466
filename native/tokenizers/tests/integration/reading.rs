//! Precedence of tokenizer_config.json, tokenizer.json and caller's options.

use serde_json::{Value, json};
use tempfile::TempDir;
use tokenizers_ffi::tokenizer::{Family, Tokenizer};

use crate::common::{VOCAB_TXT, bert, directory, encode, error, ids, open, open_with_limit};

const MASK: i64 = 4;
const SEP: i64 = 3;

/// tokenizer.json of a cased BERT tokenizer with added special tokens.
fn cased() -> Value {
    let vocab: serde_json::Map<_, _> = VOCAB_TXT
        .lines()
        .zip(0..)
        .map(|(token, id)| (token.to_owned(), json!(id)))
        .collect();
    let added = [(SEP, "[SEP]"), (MASK, "[MASK]")].map(|(id, content)| {
        json!({"id": id, "content": content, "special": true, "normalized": false, "single_word": false,
               "lstrip": false, "rstrip": false})
    });
    json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": false},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": null,
        "added_tokens": added,
        "model": {"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]",
                  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    })
}

fn of_file(file: &Value, settings: &Value) -> TempDir {
    let (file, settings) = (file.to_string(), settings.to_string());
    directory(&[
        ("tokenizer.json", &file),
        ("tokenizer_config.json", &settings),
    ])
}

fn lowercased(directory: &TempDir) -> Tokenizer {
    let mut tokenizer = open(directory, Family::Bert);
    tokenizer.lowercase().expect("no error");
    tokenizer
}

#[test]
fn another_limit_counts_whether_it_is_lower_or_higher() {
    let directory = bert(&[("tokenizer_config.json", r#"{"model_max_length": 5}"#)]);
    let text = "the film is good the film is good the film is good the film is good";
    for (limit, positions, expected) in [(4, 16, 4), (10, 16, 10), (14, 12, 12)] {
        let mut tokenizer = open_with_limit(&directory, Family::Bert, positions);
        tokenizer.set_max_length(limit).expect("no error");
        assert_eq!(encode(&tokenizer, text).input_ids.len(), expected);
        assert_eq!(tokenizer.max_length(), expected);
    }
    let mut tokenizer = open_with_limit(&directory, Family::Bert, usize::MAX);
    tokenizer.set_max_length(14).expect("no error");
    tokenizer.limit_positions(12).expect("no error");
    assert_eq!(tokenizer.max_length(), 12);
    assert!(tokenizer.set_max_length(2).is_err());
}

#[test]
fn lower_case_leaves_special_tokens_alone() {
    let cased = of_file(&cased(), &json!({"do_lower_case": false}));
    let tokenizer = lowercased(&cased);
    assert_eq!(
        ids(&tokenizer, "The [MASK] FILM [SEP] is"),
        [2, 5, MASK, 6, SEP, 7, 3]
    );
    let as_it_is = open(&cased, Family::Bert);
    assert_eq!(ids(&as_it_is, "The [MASK] FILM"), [2, 17, MASK, 1, 3]);
    // A normalized added token also matches in lower case.
    let film = json!({"7": {"content": "FILM", "normalized": true}});
    let added = bert(&[(
        "tokenizer_config.json",
        &json!({"do_lower_case": false, "added_tokens_decoder": film}).to_string(),
    )]);
    let tokenizer = lowercased(&added);
    assert_eq!(ids(&tokenizer, "film"), ids(&tokenizer, "FILM"));
    assert_ne!(ids(&tokenizer, "film"), [2, 6, 3]);
}

#[test]
fn lower_case_is_that_of_the_crate() {
    let tokenizer = lowercased(&bert(&[(
        "tokenizer_config.json",
        r#"{"do_lower_case": false}"#,
    )]));
    // Python and JavaScript convert the last letter to a final sigma.
    assert_eq!(ids(&tokenizer, "ΣΣ"), ids(&tokenizer, "σσ"));
    // A second call has no effect.
    let mut twice = lowercased(&bert(&[]));
    twice.lowercase().expect("no error");
    assert_eq!(ids(&twice, "The CAFÉ"), [2, 5, 15, 3]);
}

#[test]
fn classes_without_a_constructor_take_their_normalizer_from_the_file() {
    let text = "The FILM";
    let (cased_ids, lowercased_ids) = ([2, 17, 1, 3], [2, 5, 6, 3]);
    for do_lower_case in [true, false] {
        for (name, expected) in [
            ("ConvBertTokenizer", cased_ids),
            ("ConvBertTokenizerFast", cased_ids),
            (
                "BertTokenizer",
                if do_lower_case {
                    lowercased_ids
                } else {
                    cased_ids
                },
            ),
        ] {
            let settings = json!({"tokenizer_class": name, "do_lower_case": do_lower_case});
            let opened = open(&of_file(&cased(), &settings), Family::Bert);
            assert_eq!(ids(&opened, text), expected, "{settings}");
        }
    }
    // Without tokenizer.json, the parent class's normalizer applies.
    let settings = r#"{"tokenizer_class": "ConvBertTokenizer", "do_lower_case": true}"#;
    let opened = open(&bert(&[("tokenizer_config.json", settings)]), Family::Bert);
    assert_eq!(ids(&opened, text), lowercased_ids);
}

#[test]
fn settings_that_contradict_tokenizer_json_are_named() {
    let problem = |settings: Value| error(&of_file(&cased(), &settings), Family::Bert);
    for name in [
        "FunnelTokenizer",
        "SplinterTokenizer",
        "RoFormerTokenizerFast",
    ] {
        let said = problem(json!({"tokenizer_class": name, "do_lower_case": true}));
        assert!(
            said.starts_with("tokenizer_config.json: do_lower_case: is true, but the normalizer"),
            "{said}"
        );
        let presumed = problem(json!({"tokenizer_class": name}));
        assert!(
            presumed.contains("do_lower_case: is true, the default of the class"),
            "{presumed}"
        );
        let settings = json!({"tokenizer_class": name, "do_lower_case": false});
        assert_eq!(
            ids(&open(&of_file(&cased(), &settings), Family::Bert), "The"),
            [17]
        );
    }
    let said = problem(json!({"tokenizer_class": "DPRReaderTokenizer", "strip_accents": true}));
    assert!(said.contains("strip_accents"), "{said}");
    let mut bytes = cased();
    bytes["normalizer"] = Value::Null;
    bytes["pre_tokenizer"] = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                                    "use_regex": true});
    for (name, add_prefix_space) in [("GPT2Tokenizer", true), ("BlenderbotTokenizer", true)] {
        let settings = json!({"tokenizer_class": name, "add_prefix_space": add_prefix_space});
        let said = error(&of_file(&bytes, &settings), Family::Roberta);
        assert!(said.contains("add_prefix_space"), "{said}");
    }
}

#[test]
fn older_names_of_the_limit_count_where_the_newer_is_absent() {
    for (settings, expected) in [
        (r#"{"max_len": 5}"#, 5),
        (r#"{"model_max_length": null, "max_len": 5}"#, 16),
        (r#"{"model_max_length": 6, "max_len": 5}"#, 6),
    ] {
        let tokenizer = open(&bert(&[("tokenizer_config.json", settings)]), Family::Bert);
        assert_eq!(tokenizer.max_length(), expected, "{settings}");
    }
}

#[test]
fn special_tokens_of_the_model_are_named_in_a_list_of_their_own() {
    let settings = r#"{"model_specific_special_tokens": {"image_token": "<image>"}}"#;
    let tokenizer = open(&bert(&[("tokenizer_config.json", settings)]), Family::Bert);
    assert_eq!(ids(&tokenizer, "the <image>"), [2, 5, 18, 3]);
    // A token with its own key takes precedence over the list.
    let settings =
        r#"{"model_specific_special_tokens": {"image_token": "<image>"}, "x_token": "<x>"}"#;
    let tokenizer = open(&bert(&[("tokenizer_config.json", settings)]), Family::Bert);
    assert_eq!(ids(&tokenizer, "the <x>"), [2, 5, 18, 3]);
    assert_ne!(ids(&tokenizer, "the <image>").len(), 4);
}
