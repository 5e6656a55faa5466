use crate::common::{MERGES_TXT, bert, directory, error, roberta};
use serde_json::json;
use std::path::Path;
use tokenizers_ffi::tokenizer::Family;
use tokenizers_ffi::tokenizer::Tokenizer;

#[test]
fn missing_files_are_named() {
    let empty = directory(&[]);
    assert_eq!(
        error(&empty, Family::Bert),
        "vocab.txt: not found (looked for tokenizer.json, vocab.txt)"
    );
    assert_eq!(
        error(&empty, Family::Roberta),
        "vocab.json and merges.txt: not found (looked for tokenizer.json, or vocab.json and \
         merges.txt)"
    );
    let no_vocab = directory(&[("merges.txt", MERGES_TXT)]);
    assert!(error(&no_vocab, Family::Roberta).starts_with("vocab.json: not found"));
    assert!(error(&empty, Family::Mpnet).starts_with("vocab.txt: not found"));
    for (family, model) in [
        (Family::Albert, "spiece.model"),
        (Family::XlmRoberta, "sentencepiece.bpe.model"),
        (Family::Camembert, "sentencepiece.bpe.model"),
        (Family::DebertaV2, "spm.model"),
    ] {
        let expected = format!("{model}: not found (looked for tokenizer.json, {model})");
        assert_eq!(error(&empty, family), expected);
    }
    assert!(
        error(&empty, Family::TokenizerJson).starts_with("tokenizer.json: not found. It is needed")
    );
    let class = r#"{"tokenizer_class": "BertJapaneseTokenizer"}"#;
    let message = error(&bert(&[("tokenizer_config.json", class)]), Family::Bert);
    assert!(message.contains("`BertJapaneseTokenizer`"), "{message}");
    let nowhere = Tokenizer::open(Path::new("/nonexistent/directory"), Family::Bert, 16);
    assert!(nowhere.is_err());
}

#[test]
fn wrong_settings_name_their_key() {
    for (settings, expected) in [
        ("[]", "tokenizer_config.json: expected a JSON object"),
        ("{", "tokenizer_config.json: not valid JSON"),
        (
            r#"{"do_lower_case": "no"}"#,
            "tokenizer_config.json: do_lower_case: expected",
        ),
        (
            r#"{"model_max_length": "many"}"#,
            "tokenizer_config.json: model_max_length: expected",
        ),
        (
            r#"{"model_max_length": 0}"#,
            "tokenizer_config.json: model_max_length: expected",
        ),
        (
            r#"{"model_max_length": 2}"#,
            "maximum length: 2 tokens leave no room",
        ),
        (
            r#"{"truncation_side": "middle"}"#,
            "tokenizer_config.json: truncation_side: expected",
        ),
        (
            r#"{"cls_token": 7}"#,
            "tokenizer_config.json: cls_token: expected",
        ),
        (
            r#"{"extra_special_tokens": "x"}"#,
            "tokenizer_config.json: extra_special_tokens: ",
        ),
        (
            r#"{"added_tokens_decoder": {"x": {}}}"#,
            "tokenizer_config.json: added_tokens_decoder: ",
        ),
        (
            r#"{"added_tokens_decoder": {"5": {}}}"#,
            "tokenizer_config.json: added_tokens_decoder.5: ",
        ),
    ] {
        let message = error(&bert(&[("tokenizer_config.json", settings)]), Family::Bert);
        assert!(message.starts_with(expected), "{settings}: {message}");
    }
}

#[test]
fn damaged_vocabularies() {
    let no_unknown = directory(&[("vocab.txt", "[CLS]\n[SEP]\nfilm\n")]);
    assert!(
        Tokenizer::open(no_unknown.path(), Family::Bert, 16).is_ok(),
        "[UNK] is added"
    );
    let bad_merge = json!({"a": 0, "b": 1, "<s>": 2}).to_string();
    for (merges, expected) in [
        ("a b c\n", "merges.txt: line 1: expected two tokens"),
        (
            "#version: 0.2\n\n",
            "merges.txt: line 2: expected two tokens",
        ),
        (
            "a b\n",
            "merges.txt: merge `a b`: its result is not in the vocabulary",
        ),
    ] {
        let damaged = directory(&[("vocab.json", &bad_merge), ("merges.txt", merges)]);
        let message = error(&damaged, Family::Roberta);
        assert!(message.starts_with(expected), "{message}");
    }
    let wrong_id = roberta(&[("vocab.json", r#"{"a": -1}"#)]);
    assert!(error(&wrong_id, Family::Roberta).starts_with("vocab.json: top level: `a`: expected"));
    for (file, expected) in [
        ("", "tokenizer.json: not valid JSON"),
        ("{}", "tokenizer.json: model: expected an object"),
        (
            r#"{"model": {"vocab": []}}"#,
            "tokenizer.json: model.vocab: expected an object",
        ),
    ] {
        let message = error(&bert(&[("tokenizer.json", file)]), Family::Bert);
        assert!(message.starts_with(expected), "{message}");
    }
    let unigram = json!({"model": {"type": "Unigram", "vocab": [["a"]]}}).to_string();
    let class = r#"{"tokenizer_class": "XLMRobertaTokenizer"}"#;
    let unigram = directory(&[
        ("tokenizer.json", &unigram),
        ("tokenizer_config.json", class),
    ]);
    assert!(error(&unigram, Family::Roberta).starts_with("tokenizer.json: model.vocab: expected"));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let damaged = bert(&[]);
    std::fs::create_dir(damaged.path().join("tokenizer.json")).expect("a directory");
    assert!(error(&damaged, Family::Bert).starts_with("tokenizer.json: "));
    let latin1 = bert(&[]);
    std::fs::write(latin1.path().join("vocab.txt"), b"caf\xe9\n").expect("a written file");
    assert!(error(&latin1, Family::Bert).starts_with("vocab.txt: invalid utf-8"));
}

/// The trie is invalid: some texts would index beyond its end.
#[test]
fn rules_of_a_normalizer_are_checked_however_they_are_written() {
    const RULES: &str = r#"{"precompiled_charsmap": "BAAAAAAAAAA="}"#;
    const EMPTY: &str = "null";
    let model = r#""model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0.0]]}"#;
    for normalizers in [
        format!(r#""normalizer": {RULES}"#),
        format!(
            r#""normalizer": {}"#,
            RULES.replace('{', r#"{"type": "Precompiled", "#)
        ),
        format!(r#""normalizer": {{"type": "Sequence", "normalizers": [{RULES}]}}"#),
        format!(r#""normalizer": {RULES}, "normalizer": {EMPTY}"#),
    ] {
        let file = format!(r#"{{"version": "1.0", {normalizers}, {model}}}"#);
        let message = error(
            &directory(&[("tokenizer.json", &file)]),
            Family::TokenizerJson,
        );
        let expected =
            "tokenizer.json: normalizer: precompiled_charsmap: trie: node 0 lies outside";
        assert_eq!(message, expected, "{normalizers}");
    }
}

#[test]
fn a_panic_of_the_crate_names_the_file() {
    let model = r#""model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}"#;
    for part in [
        r#""pre_tokenizer": {"type": "FixedLength", "length": 0}"#,
        r#""normalizer": {"type": "Precompiled"}"#,
    ] {
        let file = format!(r#"{{"version": "1.0", {part}, {model}}}"#);
        let message = error(
            &directory(&[("tokenizer.json", &file)]),
            Family::TokenizerJson,
        );
        assert!(message.starts_with("tokenizer.json: "), "{part}: {message}");
    }
}

#[test]
fn a_token_without_a_row_is_named() {
    let opened = |settings: &str| {
        let folder = bert(&[("tokenizer_config.json", settings)]);
        Tokenizer::open(folder.path(), Family::Bert, 16).expect("a tokenizer")
    };
    let plain = opened("{}");
    let rows = (1..).find(|rows| plain.require_ids_below(*rows).is_ok());
    let rows = rows.expect("a number of rows");
    let message = opened(r#"{"additional_special_tokens": ["<new>"]}"#)
        .require_ids_below(rows)
        .expect_err("an error")
        .to_string();
    assert!(
        message.contains(&format!(
            "`<new>` has the id {rows}, but the embedding table has {rows} rows"
        )),
        "{message}"
    );
}

#[test]
fn files_are_read_within_bounds() {
    let folder = bert(&[]);
    let file =
        std::fs::File::create(folder.path().join("special_tokens_map.json")).expect("a file");
    file.set_len(1 << 40).expect("a file with holes");
    assert_eq!(
        error(&folder, Family::Bert),
        "special_tokens_map.json: has 1099511627776 bytes, expected at most 67108864"
    );
    let many = format!("{{\"x\": [{}0]}}", "0,".repeat(5_000_000));
    assert_eq!(
        error(&bert(&[("tokenizer_config.json", &many)]), Family::Bert),
        "tokenizer_config.json: has 5000001 values, expected at most 4000000"
    );
}
