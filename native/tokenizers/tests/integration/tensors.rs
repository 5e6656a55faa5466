use serde_json::{Value, json};
use tokenizers_ffi::tensors::{Tensor, parse};

/// Assembles a file from length field, header and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = header.len() as u64;
    [&length.to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn one(dtype: &str, shape: Value, offsets: Value) -> String {
    json!({"w": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}).to_string()
}

fn message(file: &[u8]) -> String {
    parse(file).expect_err("an error").to_string()
}

#[test]
fn tensors_by_offset() {
    let header = json!({
        "__metadata__": {"format": "pt"},
        "b.weight": {"dtype": "F16", "shape": [2], "data_offsets": [24, 28]},
        "a.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "scalar \u{e9}\u{0}": {"dtype": "BF16", "shape": [], "data_offsets": [28, 30]},
        "empty": {"dtype": "I64", "shape": [0, 4], "data_offsets": [30, 30]},
    })
    .to_string();
    let start = 8 + header.len();
    let tensor = |name: &str, dtype: &str, shape: &[i64], begin, end| Tensor {
        name: name.to_owned(),
        dtype: dtype.to_owned(),
        shape: shape.to_vec(),
        begin: start + begin,
        end: start + end,
    };
    assert_eq!(
        parse(&file(&header, &[0; 30])).expect("tensors"),
        [
            tensor("a.weight", "F32", &[2, 3], 0, 24),
            tensor("b.weight", "F16", &[2], 24, 28),
            tensor("scalar \u{e9}\u{0}", "BF16", &[], 28, 30),
            tensor("empty", "I64", &[0, 4], 30, 30),
        ]
    );
    assert_eq!(parse(&file("{}", &[])).expect("no tensors"), []);
}

#[test]
fn damaged_files() {
    let good = file(&one("F32", json!([2]), json!([0, 8])), &[0; 8]);
    assert!(parse(&good).is_ok());
    assert!(message(&[]).starts_with("not a safetensors file: 0 bytes"));
    assert!(message(&good[..7]).starts_with("not a safetensors file: 7 bytes"));
    assert!(message(&good[..20]).starts_with("truncated"));
    let expected = format!(
        "truncated or damaged: {} bytes, {} expected",
        good.len() - 1,
        good.len()
    );
    assert_eq!(message(&good[..good.len() - 1]), expected);
    assert!(message(&[&good[..], &[0]].concat()).starts_with("truncated or damaged"));
    assert!(message(&u64::MAX.to_le_bytes()).contains("header's length is over"));
    assert!(message(&100_000_001u64.to_le_bytes()).contains("header's length is over"));
    let spaces = " ".repeat((8 << 20) - 2);
    assert_eq!(
        parse(&file(&format!("{{{spaces}}}"), &[])).expect("none"),
        []
    );
    assert!(
        message(&file(&format!("{{{spaces} }}"), &[]))
            .contains("has 8388609 bytes, expected at most 8388608")
    );
    assert!(message(b"PK\x03\x04 a zip archive, not this").contains("not a safetensors file"));
    assert!(message(&file("{\"w\": ", &[])).starts_with("invalid JSON in header"));
    assert!(message(&file("[]", &[])).starts_with("invalid JSON in header"));
    assert!(message(&file("\"\u{fffd}", &[])).starts_with("invalid JSON in header"));
    let not_utf8 = [&2u64.to_le_bytes()[..], b"\xff\xfe"].concat();
    assert!(message(&not_utf8).starts_with("invalid UTF-8 in header"));
}

#[test]
fn faults_name_their_tensor() {
    let size = "tensor `w`: data_offsets: not the size that its shape and dtype need";
    let offsets = "tensor `w`: data_offsets: overlapping, reversed, or with a hole before them";
    for (header, bytes, expected) in [
        (one("F32", json!([2]), json!([0, 4])), 4, size),
        (one("F16", json!([2]), json!([0, 8])), 8, size),
        (one("F32", json!([u64::MAX, 2]), json!([0, 8])), 8, size),
        (one("F32", json!([1]), json!([4, 8])), 8, offsets),
        (one("F32", json!([1]), json!([8, 4])), 8, offsets),
    ] {
        assert_eq!(
            message(&file(&header, &vec![0; bytes])),
            expected,
            "{header}"
        );
    }
    let overlapping = json!({
        "v": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "w": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
    });
    assert_eq!(message(&file(&overlapping.to_string(), &[0; 12])), offsets);
    let second = json!({
        "v": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "w": {"dtype": "F32", "shape": [3], "data_offsets": [8, 16]},
    });
    assert_eq!(message(&file(&second.to_string(), &[0; 16])), size);
    let unknown = one("F99", json!([1]), json!([0, 4]));
    assert!(message(&file(&unknown, &[0; 4])).contains("F99"));
}

/// Truncated and bit-flipped files are parsed or rejected without a panic.
#[test]
fn no_damage_panics() {
    let good = file(&one("BF16", json!([2, 2]), json!([0, 8])), &[7; 8]);
    for length in 0..good.len() {
        assert!(parse(&good[..length]).is_err());
    }
    for position in 0..good.len() {
        for bit in 0..8 {
            let mut damaged = good.clone();
            damaged[position] ^= 1 << bit;
            let _ = parse(&damaged);
        }
    }
}

#[test]
fn names_that_stand_twice() {
    let entry = r#""w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    let message = message(&file(&format!("{{{entry},{entry}}}"), &[0; 4]));
    assert_eq!(message, "tensor `w`: repeated key");
}

#[test]
fn shapes_of_nothing_whose_strides_overflow() {
    let size: u64 = 1 << 40;
    let header = one("F32", json!([0, size, size]), json!([0, 0]));
    assert_eq!(message(&file(&header, &[])), "tensor `w`: shape: too large");
}

#[test]
fn a_header_of_more_than_8_mib() {
    let header = format!("{{{}}}", " ".repeat(9_000_000));
    assert_eq!(
        message(&file(&header, &[])),
        "the header has 9000002 bytes, expected at most 8388608"
    );
}
