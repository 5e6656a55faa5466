//! The C ABI, called as C++ calls it.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::common::bert;
use hf::ffi::*;

/// The message of a failed call, freed.
fn take(error: *mut c_char) -> String {
    assert!(!error.is_null());
    // SAFETY: a failed call set it.
    let message = unsafe { CStr::from_ptr(error) };
    let message = message.to_str().expect("UTF-8").to_owned();
    // SAFETY: it came from the library and is not used again.
    unsafe { hf_string_free(error) };
    message
}

fn open(path: &[u8], family: i32) -> Result<*mut hf::tokenizer::Tokenizer, String> {
    let (mut tokenizer, mut error) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: all pointers are valid for the call.
    let status = unsafe {
        hf_tokenizer_open(
            path.as_ptr().cast(),
            path.len(),
            family,
            8,
            &mut tokenizer,
            &mut error,
        )
    };
    match status {
        0 => Ok(tokenizer),
        _ => Err(take(error)),
    }
}

fn one_text(text: &[u8]) -> Input {
    Input {
        text: match text {
            b"" => ptr::null(),
            text => text.as_ptr().cast(),
        },
        text_length: text.len(),
        pair: ptr::null(),
        pair_length: 0,
        truncation: 0,
        truncation_side: 0,
    }
}

#[test]
fn encodes_bytes() {
    let directory = bert(&[]);
    let path = directory.path().to_str().expect("UTF-8");
    let tokenizer = open(path.as_bytes(), 0).expect("a tokenizer");
    let ids = |text: &[u8]| {
        let input = one_text(text);
        let mut encoding = Encoding {
            input_ids: ptr::null_mut(),
            token_type_ids: ptr::null_mut(),
            length: 0,
            truncated: false,
        };
        // SAFETY: all pointers are valid; the arrays are read before they are freed.
        unsafe {
            let status = hf_tokenizer_encode(tokenizer, &input, &mut encoding, ptr::null_mut());
            assert_eq!(status, 0);
            let ids = std::slice::from_raw_parts(encoding.input_ids, encoding.length).to_vec();
            let types = std::slice::from_raw_parts(encoding.token_type_ids, encoding.length);
            assert!(types.iter().all(|kind| *kind == 0));
            let truncated = encoding.truncated;
            hf_encoding_free(&mut encoding);
            hf_encoding_free(&mut encoding); // empty now: nothing to free
            (ids, truncated)
        }
    };
    assert_eq!(ids(b""), (vec![2, 3], false));
    assert_eq!(ids(b"the \0film"), (vec![2, 5, 6, 3], false));
    // Invalid UTF-8 becomes U+FFFD, which BERT drops: half a character, a lone surrogate, 0xff.
    assert_eq!(
        ids(b"the \xe7\x94 film \xed\xa0\x80 is \xff"),
        (vec![2, 5, 6, 7, 3], false)
    );
    assert_eq!(
        ids(&b"good ".repeat(9)),
        (vec![2, 8, 8, 8, 8, 8, 8, 3], true)
    );
    // SAFETY: opened above, freed once.
    unsafe {
        assert_eq!(hf_tokenizer_max_length(tokenizer), 8);
        assert_eq!(hf_tokenizer_padding_id(tokenizer), 0);
        assert_eq!(hf_tokenizer_limit(tokenizer, 4, ptr::null_mut()), 0);
        assert_eq!(hf_tokenizer_limit(tokenizer, 9, ptr::null_mut()), 0);
        assert_eq!(ids(&b"good ".repeat(9)), (vec![2, 8, 8, 3], true));
        let mut error = ptr::null_mut();
        assert_eq!(hf_tokenizer_limit(tokenizer, 2, &mut error), 1);
        let message = take(error);
        assert!(message.starts_with("maximum length: 2 tokens"), "{message}");
        assert_eq!(hf_tokenizer_max_length(tokenizer), 4);
        hf_tokenizer_free(tokenizer);
        hf_tokenizer_free(ptr::null_mut());
    }
}

#[test]
fn encodes_pairs() {
    let directory = bert(&[]);
    let path = directory.path().to_str().expect("UTF-8");
    let tokenizer = open(path.as_bytes(), 0).expect("a tokenizer");
    let encode = |truncation: i32, truncation_side: i32| {
        let pair = b"bad film \xff is the";
        let input = Input {
            pair: pair.as_ptr().cast(),
            pair_length: pair.len(),
            truncation,
            truncation_side,
            ..one_text(b"the film is good")
        };
        let mut encoding = Encoding {
            input_ids: ptr::null_mut(),
            token_type_ids: ptr::null_mut(),
            length: 0,
            truncated: false,
        };
        let mut error = ptr::null_mut();
        // SAFETY: all pointers are valid; the arrays are read before they are freed.
        unsafe {
            match hf_tokenizer_encode(tokenizer, &input, &mut encoding, &mut error) {
                0 => {
                    let read = |array: *const i64| {
                        std::slice::from_raw_parts(array, encoding.length).to_vec()
                    };
                    let found = (read(encoding.input_ids), read(encoding.token_type_ids));
                    assert!(encoding.truncated);
                    hf_encoding_free(&mut encoding);
                    Ok(found)
                }
                status => Err((status, take(error))),
            }
        }
    };
    let types = vec![0, 0, 0, 0, 1, 1, 1, 1];
    assert_eq!(
        encode(0, 0),
        Ok((vec![2, 5, 6, 3, 9, 6, 7, 3], types.clone()))
    );
    assert_eq!(encode(0, 0), encode(0, 1));
    assert_eq!(encode(0, 2), Ok((vec![2, 7, 8, 3, 6, 7, 5, 3], types)));
    let too_long = "The two texts have together more than 8 tokens.".to_owned();
    assert_eq!(encode(3, 0), Err((2, too_long)));
    assert_eq!(encode(4, 0), Err((1, "unknown truncation 4".to_owned())));
    assert_eq!(
        encode(0, 3),
        Err((1, "unknown truncation side 3".to_owned()))
    );
    // SAFETY: opened above, freed once.
    unsafe { hf_tokenizer_free(tokenizer) };
}

#[test]
fn failures_have_messages() {
    let directory = crate::common::directory(&[]);
    let path = directory.path().to_str().expect("UTF-8");
    let missing = open(path.as_bytes(), 0).expect_err("an error");
    assert!(missing.starts_with("vocab.txt: not found"), "{missing}");
    assert_eq!(
        open(path.as_bytes(), 9),
        Err("unknown tokenizer family 9".to_owned())
    );
    assert_eq!(
        open(b"a\0b\xff", 1),
        Err("tokenizer directory: not found".to_owned())
    );
    let (mut tensors, mut error) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: all pointers are valid for the calls; a null error pointer is allowed.
    unsafe {
        let text = c"text".as_ptr().cast();
        assert_eq!(hf_safetensors_parse(text, 4, &mut tensors, &mut error), 1);
        assert_eq!(
            hf_safetensors_parse(text, 4, &mut tensors, ptr::null_mut()),
            1
        );
    }
    assert!(take(error).starts_with("not a safetensors file"));
}

#[test]
fn lists_tensors() {
    let header = br#"{"w.1":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 8]].concat();
    let mut tensors = ptr::null_mut();
    let error = ptr::null_mut();
    // SAFETY: all pointers are valid; the entry is read before the list is freed.
    unsafe {
        let status = hf_safetensors_parse(file.as_ptr().cast(), file.len(), &mut tensors, error);
        assert_eq!((status, hf_tensors_count(tensors)), (0, 1));
        let entry = hf_tensors_get(tensors, 0);
        let name = std::slice::from_raw_parts(entry.name.cast::<u8>(), entry.name_length);
        assert_eq!(name, b"w.1");
        assert_eq!(CStr::from_ptr(entry.dtype), c"F32");
        assert_eq!(std::slice::from_raw_parts(entry.shape, entry.rank), [1, 2]);
        assert_eq!((entry.begin, entry.end), (file.len() - 8, file.len()));
        hf_tensors_free(tensors);
    }
}

#[test]
fn states_the_version() {
    // SAFETY: the string is static.
    let version = unsafe { CStr::from_ptr(hf_tokenizers_version()) };
    assert_eq!(version, c"tokenizers 0.23.2");
}
