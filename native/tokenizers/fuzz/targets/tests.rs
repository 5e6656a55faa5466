//! Runs the corpus: inputs that reach most of the code, and all inputs that once failed.

use std::fs;
use std::path::Path;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 5] = [
    ("early_truncation", super::early_truncation),
    ("encode", super::encode),
    ("safetensors", super::safetensors),
    ("sentencepiece", super::sentencepiece),
    ("tokenizer_files", super::tokenizer_files),
];

#[test]
fn kept_inputs_break_no_promise() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in TARGETS {
        let entries = fs::read_dir(folder.join(name)).expect("kept inputs");
        let mut count = 0;
        for entry in entries {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            target(&fs::read(&path).expect("a readable file"));
            count += 1;
        }
        assert!(count > 10, "{name}: {count} inputs");
    }
}
