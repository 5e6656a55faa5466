//! Consistency check for classes that transformers builds from tokenizer_config.json, but this crate opens from
//! tokenizer.json. Both files agree for almost all models. If they differ, the tokenizer is rejected.

use serde_json::{Map, Value};

use super::Source;
use errors::{Result, bail};

/// Default settings of classes (`__init__` in transformers).
struct Defaults {
    names: &'static [&'static str],
    values: &'static [(&'static str, Value)],
}

const BERT_LIKE: &[(&str, Value)] = &[
    ("do_lower_case", Value::Bool(true)),
    ("strip_accents", Value::Null),
    ("tokenize_chinese_chars", Value::Bool(true)),
];
const CASED: &[(&str, Value)] = &[
    ("do_lower_case", Value::Bool(false)),
    ("strip_accents", Value::Null),
    ("tokenize_chinese_chars", Value::Bool(true)),
];

const CLASSES: [Defaults; 4] = [
    Defaults {
        names: &[
            "FunnelTokenizer",
            "LayoutLMv2Tokenizer",
            "RoFormerTokenizer",
            "SplinterTokenizer",
        ],
        values: BERT_LIKE,
    },
    Defaults {
        names: &[
            "DPRContextEncoderTokenizer",
            "DPRQuestionEncoderTokenizer",
            "DPRReaderTokenizer",
        ],
        values: CASED,
    },
    Defaults {
        names: &[
            "BarthezTokenizer",
            "BigBirdTokenizer",
            "BlenderbotTokenizer",
            "LayoutLMv3Tokenizer",
            "LayoutXLMTokenizer",
            "RemBertTokenizer",
            "XGLMTokenizer",
        ],
        values: &[("add_prefix_space", Value::Bool(true))],
    },
    Defaults {
        names: &[
            "CodeGenTokenizer",
            "CohereTokenizer",
            "DebertaTokenizer",
            "GPT2Tokenizer",
            "GPTNeoXTokenizer",
            "LukeTokenizer",
            "MarkupLMTokenizer",
            "WhisperTokenizer",
        ],
        values: &[("add_prefix_space", Value::Bool(false))],
    },
];

/// Fails with the name of a setting that differs from tokenizer.json.
pub fn require(source: &Source, file: &Map<String, Value>) -> Result<()> {
    let class = source.class.as_str();
    let name = class.strip_suffix("Fast").unwrap_or(class);
    let mut classes = CLASSES.iter();
    let Some(class) = classes.find(|class| class.names.contains(&name)) else {
        return Ok(());
    };
    for (key, default) in class.values {
        let given = source.settings.value(key);
        let wanted = given.unwrap_or(default);
        for step in ["normalizer", "pre_tokenizer"] {
            for found in steps(file.get(step)).filter_map(|step| setting_of(step, key)) {
                if found == *wanted {
                    continue;
                }
                let of = if given.is_some() {
                    ""
                } else {
                    ", the default of the class"
                };
                bail!(
                    "tokenizer_config.json: {key}: is {wanted}{of}, but the {step} of tokenizer.json was saved \
                     with {found}. {name} uses {wanted}. Save the tokenizer with transformers again"
                );
            }
        }
    }
    Ok(())
}

/// The step itself, and the steps of a sequence.
fn steps(step: Option<&Value>) -> impl Iterator<Item = &Value> {
    let nested = ["normalizers", "pretokenizers"].map(|list| {
        let list = step.and_then(|step| step.get(list)?.as_array());
        list.into_iter().flatten()
    });
    step.into_iter().chain(nested.into_iter().flatten())
}

/// Value of a setting in a step; `None` if the step does not have the setting.
fn setting_of(step: &Value, key: &str) -> Option<Value> {
    let kind = step.get("type")?.as_str()?;
    let field = |name: &str| Some(step.get(name).cloned().unwrap_or_default());
    match (kind, key) {
        ("BertNormalizer", "do_lower_case") => field("lowercase"),
        ("BertNormalizer", "strip_accents") => field("strip_accents"),
        ("BertNormalizer", "tokenize_chinese_chars") => field("handle_chinese_chars"),
        ("ByteLevel", "add_prefix_space") => field("add_prefix_space"),
        ("Metaspace", "add_prefix_space") => {
            let scheme = step.get("prepend_scheme")?.as_str()?;
            Some(Value::Bool(scheme == "always"))
        }
        _ => None,
    }
}
