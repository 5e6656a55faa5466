use serde_json::json;

use super::require_bounded_steps;

fn is_quick(pattern: &str) -> bool {
    let step = json!({"type": "Split", "pattern": {"Regex": pattern}});
    require_bounded_steps("pre_tokenizer", Some(&step)).is_ok()
}

#[test]
fn what_models_split_by_is_quick() {
    // Expressions of GPT-2, Llama 3, GPT-4o, Qwen 2, DeBERTa, Gemma and BLOOM.
    for pattern in [
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"\s{2,}|[\n\r\t]",
        r" ",
        r" ?[^(\s|[.,!?…。，、।۔،])]+",
        r"[^\s]+|\s+",
        r"\d{1,3}(?=(\d{3})*\b)",
        r"[一-龥぀-ゟ゠-ヿ]+",
    ] {
        assert!(is_quick(pattern), "{pattern}");
    }
}

#[test]
fn what_grows_is_refused() {
    let replace = |content: &str| {
        let step = json!({"type": "Replace", "pattern": {"String": "a"}, "content": content});
        let steps = json!({"type": "Sequence", "normalizers": [step]});
        require_bounded_steps("normalizer", Some(&steps)).is_ok()
    };
    assert!(replace("\u{2581}"));
    assert!(!replace(&"b".repeat(257)));
}

#[test]
fn what_explodes_is_not() {
    for pattern in [
        "(a+)+$",
        "^(a|a)*$",
        "(x*)*y",
        r"(\s+)+z",
        "([a-zA-Z]+)*1",
        "((ab)+)+c",
        r"(a+)\1+b",
        r"(\p{Cyrillic}+)+$",
        r"([\u4e00-\u9fff]+)*x",
    ] {
        assert!(!is_quick(pattern), "{pattern}");
    }
}
