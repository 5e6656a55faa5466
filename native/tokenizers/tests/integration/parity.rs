//! Comparison with the ids of transformers for the golden texts of test/fixtures.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokenizers_ffi::tokenizer::{Family, Input, Side, Tokenizer, Truncation};

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn fixtures(folder: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures");
    all.join(folder)
}

fn directories(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the fixtures");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.is_dir()).collect()
}

fn family(directory: &Path) -> Family {
    if directory.join("model.pt2").exists() {
        return Family::Unknown;
    }
    let config = read(&directory.join("config.json"));
    match config["model_type"].as_str() {
        Some("bert" | "distilbert" | "electra" | "ernie") => Family::Bert,
        Some("data2vec-text" | "roberta") => Family::Roberta,
        Some("mpnet") => Family::Mpnet,
        Some("albert") => Family::Albert,
        Some("xlm-roberta") => Family::XlmRoberta,
        Some("camembert") => Family::Camembert,
        Some("deberta-v2") => Family::DebertaV2,
        Some("gte" | "jina_embeddings_v3") => Family::XlmRoberta,
        Some("nomic_bert") => Family::Bert,
        Some(
            "eurobert"
            | "gemma"
            | "gemma3_text"
            | "lfm2"
            | "modernbert"
            | "openai_privacy_filter"
            | "qwen3",
        ) => Family::TokenizerJson,
        _ if directory.join("model.pt").exists() => Family::Bert,
        other => panic!("{directory:?}: model_type {other:?}"),
    }
}

#[test]
fn same_ids_as_transformers_for_the_models() {
    let texts = read(&fixtures("texts.json"));
    let texts = texts["texts"].as_array().expect("texts");
    let mut compared = 0;
    for directory in directories(&fixtures("models")) {
        let golden = read(&directory.join("golden.json"));
        let limit = golden["max_length"].as_u64().expect("max_length") as usize;
        let tokenizer = Tokenizer::open(&directory, family(&directory), limit);
        let tokenizer = tokenizer.unwrap_or_else(|error| panic!("{directory:?}: {error}"));
        let answers = golden["answers"].as_array().expect("answers");
        assert_eq!(answers.len(), texts.len(), "{directory:?}");
        for (text, row) in texts.iter().zip(answers) {
            let text = text.as_str().expect("text");
            let encoding = tokenizer.encode(text).expect("an encoding");
            let ids = Value::from(encoding.input_ids);
            assert_eq!(ids, row["input_ids"], "{directory:?}: {text:?}");
            assert_eq!(
                row["truncated"], encoding.truncated,
                "{directory:?}: {text:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} texts compared");
}

/// These folders have no tokenizer.json.
#[test]
fn same_ids_as_transformers_for_the_tokenizers() {
    let folder = fixtures("tokenizers");
    let texts = read(&folder.join("texts.json"));
    let texts = texts["texts"].as_array().expect("texts");
    let all = directories(&folder);
    assert!(all.len() >= 9, "{} directories", all.len());
    for directory in all {
        let golden = read(&directory.join("golden.json"));
        let rows = golden["input_ids"].as_array().expect("input_ids");
        assert_eq!((texts.len(), rows.len()), (400, 400), "{directory:?}");
        let tokenizer = Tokenizer::open(&directory, family(&directory), usize::MAX);
        let tokenizer = tokenizer.unwrap_or_else(|error| panic!("{directory:?}: {error}"));
        for (text, expected) in texts.iter().zip(rows) {
            let text = text.as_str().expect("text");
            let encoding = tokenizer.encode(text).expect("an encoding");
            let ids = Value::from(encoding.input_ids);
            assert_eq!(ids, *expected, "{directory:?}: {text:?}");
        }
    }
}

fn request<'a>(case: &Value, texts: &'a Value) -> Input<'a> {
    let text = |index: usize| texts[index].as_str().expect("a text");
    Input {
        text: text(0),
        pair: Some(text(1)),
        truncation: match case["truncation"].as_str() {
            Some("longest_first") => Truncation::LongestFirst,
            Some("only_first") => Truncation::OnlyFirst,
            Some("only_second") => Truncation::OnlySecond,
            Some("do_not_truncate") => Truncation::DoNotTruncate,
            other => panic!("truncation: {other:?}"),
        },
        kept_side: Some(if case["side"] == "left" {
            Side::End
        } else {
            Side::Start
        }),
        is_pair: false,
        max_tokens: None,
    }
}

#[test]
fn same_ids_and_types_as_transformers_for_pairs() {
    let folder = fixtures("pairs");
    let pairs = read(&folder.join("texts.json"));
    let mut errors = 0;
    let mut compared = 0;
    for entry in fs::read_dir(folder.join("tokens")).expect("golden files") {
        let golden = read(&entry.expect("an entry").path());
        let directory = fixtures(golden["directory"].as_str().expect("directory"));
        for case in golden["cases"].as_array().expect("cases") {
            let limit = case["limit"].as_u64().expect("limit") as usize;
            let tokenizer = Tokenizer::open(&directory, family(&directory), limit);
            let tokenizer = tokenizer.unwrap_or_else(|error| panic!("{directory:?}: {error}"));
            let pair = case["pair"].as_u64().expect("pair") as usize;
            let encoded = tokenizer.encode(request(case, &pairs["pairs"][pair]));
            compared += 1;
            match encoded {
                Ok(encoding) => {
                    let types = encoding.token_type_ids.iter();
                    let types: String = types.map(i64::to_string).collect();
                    let ids = Value::from(encoding.input_ids);
                    assert_eq!(ids, case["input_ids"], "{directory:?}: {case}");
                    assert_eq!(case["token_type_ids"], types, "{directory:?}: {case}");
                }
                Err(error) => {
                    assert!(
                        error.is::<tokenizers_ffi::TooLong>(),
                        "{directory:?}: {case}: {error}"
                    );
                    assert!(case["error"].is_string(), "{directory:?}: {case}: {error}");
                    errors += 1;
                }
            }
        }
    }
    assert!(compared > 1000 && errors > 200, "{compared}, {errors}");
}
