//! SentencePiece models: invalid files, and cases that the golden files of `parity` do not contain.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{directory, encode, error, ids, open_with_limit};
use tempfile::TempDir;
use tokenizers_ffi::tokenizer::Family;
use tokenizers_ffi::tokenizer::Tokenizer;

/// A length-delimited protobuf field.
fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(content);
    field
}

fn piece(text: &str, score: f32, kind: u8) -> Vec<u8> {
    let mut message = bytes(1, text.as_bytes());
    message.push(2 << 3 | 5);
    message.extend(score.to_le_bytes());
    message.extend([3 << 3, kind]);
    bytes(1, &message)
}

fn charsmap(content: &[u8]) -> Vec<u8> {
    bytes(3, &bytes(2, content))
}

/// A trie of one block that maps the byte `a` to the replacement at offset `value`.
fn trie(value: u32) -> Vec<u8> {
    let mut units = [0_u32; 512];
    units[0] = 256 << 10; // The root's children begin at 256.
    units[256 ^ 0x61] = 0x61 | 1 << 8 | 0x61 << 10; // Its leaf is at 256.
    units[256] = 0x8000_0000 | value;
    units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
}

fn pieces() -> Vec<u8> {
    let list = [
        ("<unk>", 0.0, 2),
        ("<s>", 0.0, 3),
        ("</s>", 0.0, 3),
        ("▁", -3.0, 1),
        ("a", -4.0, 1),
        ("b", -4.0, 1),
        ("▁ab", -1.0, 1),
        ("a b", -1.0, 4),
    ];
    let fields = list.map(|(text, score, kind)| piece(text, score, kind));
    fields.concat()
}

fn with_model(name: &str, model: &[u8]) -> TempDir {
    let directory = directory(&[]);
    fs::write(directory.path().join(name), model).expect("a written file");
    directory
}

fn fixture(name: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures/tokenizers");
    all.join(name)
}

#[test]
fn ids_of_a_small_model() {
    let model = with_model("sentencepiece.bpe.model", &pieces());
    let tokenizer = open_with_limit(&model, Family::XlmRoberta, 16);
    // <s> 0, <pad> 1, </s> 2, <unk> 3, then ▁ 4, a 5, b 6, ▁ab 7, "a b" 8, <mask> 9.
    assert_eq!(ids(&tokenizer, "ab ☃ <mask>"), [0, 7, 4, 3, 9, 2]);
    assert_eq!(ids(&tokenizer, "a b"), [0, 8, 2], "a user-defined piece");
    let tokenizer = open_with_limit(&model, Family::Camembert, 16);
    // <pad> 1, <unk> 3, <s> 5, </s> 6, ▁ 7, a 8, b 9, ▁ab 10, "a b" 11, <mask> 12.
    assert_eq!(ids(&tokenizer, "ab ba"), [5, 10, 7, 9, 8, 6]);
    let other_names = r#"{"unk_token": "<none>", "mask_token": "<hidden>"}"#;
    fs::write(model.path().join("tokenizer_config.json"), other_names).expect("a written file");
    let tokenizer = open_with_limit(&model, Family::XlmRoberta, 16);
    assert_eq!(ids(&tokenizer, "<hidden><none>"), [0, 9, 3, 2]);
}

#[test]
fn rules_of_the_model_are_applied() {
    let mut rules = 2048_u32.to_le_bytes().to_vec();
    rules.extend(trie(2));
    rules.extend(b"x\0b\0");
    let model = [pieces(), charsmap(&rules)].concat();
    let tokenizer = with_model("sentencepiece.bpe.model", &model);
    let tokenizer = open_with_limit(&tokenizer, Family::XlmRoberta, 16);
    assert_eq!(ids(&tokenizer, "a"), [0, 4, 6, 2], "a is read as b");
}

#[test]
fn a_long_text_gives_what_its_whole_would() {
    let text = "ab ba\tab [MASK] don't  stop… (ever) ½ e\u{301} ".repeat(3_000);
    for (name, family) in [
        ("albert", Family::Albert),
        ("deberta-v2", Family::DebertaV2),
    ] {
        let directory = with_copies(&fixture(name));
        fs::write(directory.path().join("tokenizer_config.json"), "{}").expect("a written file");
        let whole = encode(&open_with_limit(&directory, family, usize::MAX), &text).input_ids;
        let cut = encode(&open_with_limit(&directory, family, 512), &text).input_ids;
        assert_eq!(cut[..511], whole[..511], "{name}");
        assert_eq!(cut[511], whole[whole.len() - 1], "{name}");
    }
}

fn with_copies(source: &Path) -> TempDir {
    let target = directory(&[]);
    for entry in fs::read_dir(source).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        fs::copy(&path, target.path().join(name)).expect("a copied file");
    }
    target
}

#[test]
fn damaged_models_say_what_is_wrong() {
    let long = |number: u8| vec![number << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0x0f];
    let rules = |trie: &[u8], size: u32| charsmap(&[&size.to_le_bytes(), trie].concat());
    for (model, expected) in [
        (vec![], "no pieces"),
        (
            b"{\"model\": 1}".to_vec(),
            "Protobuf message: buffer underflow",
        ),
        (vec![0xff; 20], "invalid varint"),
        (vec![2], "invalid tag value: 0"),
        (long(1), "buffer underflow"),
        (
            bytes(1, &long(1)),
            "pieces[0]: failed to decode Protobuf message: SentencePiece.piece: buffer underflow",
        ),
        (
            bytes(1, &bytes(1, b"\xff")),
            "SentencePiece.piece: invalid string value: data is not UTF-8",
        ),
        (
            piece("a", f32::NAN, 1),
            "pieces[0]: score: NaN is not finite",
        ),
        (piece("a", 0.0, 9), "pieces[0]: type: 9 is not known"),
        (
            vec![1 << 3, 1],
            "pieces[0]: failed to decode Protobuf message: invalid wire type: Varint (expected",
        ),
        (
            bytes(2, &bytes(3, b"x")),
            "TrainerSpec.model_type: ModelProto.trainer_spec: invalid wire type",
        ),
        (charsmap(b"abc"), "precompiled_charsmap: too short"),
        (
            rules(&[], u32::MAX - 3),
            "a trie of 4294967292 bytes announced, 0 left",
        ),
        (rules(&[], 0), "precompiled_charsmap: an empty trie"),
        (rules(&[0; 4], 4), "trie: node 0 lies outside"),
        (rules(&[0xff; 2048], 2048), "lies outside"),
        (
            rules(&trie(7), 2048),
            "trie: node 256: no replacement at Some(7)",
        ),
    ] {
        let message = error(&with_model("spiece.model", &model), Family::Albert);
        let start = "spiece.model: not a SentencePiece model: ";
        assert!(
            message.starts_with(start) && message.contains(expected),
            "{expected}: {message}"
        );
    }
    let few = with_model("spiece.model", &pieces());
    let expected = "spiece.model: cls_token: `[CLS]` is not in the vocabulary";
    assert_eq!(error(&few, Family::Albert), expected);
    let few = with_model("sentencepiece.bpe.model", &[]);
    assert!(error(&few, Family::XlmRoberta).contains("no pieces"));
    let bpe = [pieces(), bytes(2, &[3 << 3, 2])].concat();
    let bpe = with_model("sentencepiece.bpe.model", &bpe);
    assert!(error(&bpe, Family::Camembert).contains("not a Unigram model"));
}

/// Any changed byte or truncated file results in an error or a working tokenizer, never in a panic.
#[test]
fn no_damage_panics() {
    for (name, file, family) in [
        ("albert", "spiece.model", Family::Albert),
        ("deberta-v2-bpe", "spm.model", Family::DebertaV2),
        ("bpe-with-bytes", "tokenizer.model", Family::TokenizerJson),
    ] {
        let model = fs::read(fixture(name).join(file)).expect("a fixture");
        let (mut refused, mut opened) = (0, 0);
        for index in (0..model.len()).step_by(23) {
            let mut damaged = model.clone();
            damaged[index] ^= [0x01, 0x80, 0xff][index % 3];
            for content in [&damaged[..], &model[..index]] {
                match try_model(file, content, family) {
                    true => opened += 1,
                    false => refused += 1,
                }
            }
        }
        assert!(refused > 50 && opened > 50, "{name}: {refused} {opened}");
    }
}

fn try_model(file: &str, content: &[u8], family: Family) -> bool {
    let directory = with_model(file, content);
    let Ok(tokenizer) = Tokenizer::open(directory.path(), family, 64) else {
        return false;
    };
    for text in ["The film is … ½ ﬁne\u{ad}!", "a\u{301}", "<s>電 \0", ""] {
        let _ = tokenizer.encode(text);
    }
    true
}
