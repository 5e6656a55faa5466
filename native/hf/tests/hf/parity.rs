//! The ids that transformers gave for the golden texts of test/fixtures/models.

use std::fs;
use std::path::Path;

use hf::tokenizer::{Family, Tokenizer};
use serde_json::Value;

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

#[test]
fn same_ids_as_transformers() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures/models");
    let mut compared = 0;
    for entry in fs::read_dir(&models).expect("the fixture models") {
        let directory = entry.expect("an entry").path();
        let golden = read(&directory.join("golden.json"));
        let config = read(&directory.join("config.json"));
        let family = match config["model_type"].as_str() {
            Some("bert" | "distilbert" | "electra") => Family::Bert,
            Some("mpnet") => Family::Mpnet,
            Some("albert") => Family::Albert,
            Some("xlm-roberta") => Family::XlmRoberta,
            Some("camembert") => Family::Camembert,
            Some("deberta-v2") => Family::DebertaV2,
            Some("modernbert") => Family::TokenizerJson,
            _ => Family::Roberta,
        };
        let limit = golden["max_length"].as_u64().expect("max_length") as usize;
        let tokenizer = Tokenizer::open(&directory, family, limit).expect("a tokenizer");
        for row in golden["texts"].as_array().expect("texts") {
            let text = row["text"].as_str().expect("text");
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
