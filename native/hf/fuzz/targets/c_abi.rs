//! The C ABI, called as C++ calls it, with what it promises checked.

use std::ffi::{CStr, c_char};
use std::path::Path;
use std::{ptr, slice};

use crate::ffi;
use crate::tokenizer::{Encoding, Tokenizer};

/// What else is asked of an encoding.
#[derive(Clone, Copy, Default)]
pub struct Asked<'a> {
    pub pair: &'a [u8],
    /// `hf_truncation`
    pub truncation: i32,
    /// `hf_truncation_side`
    pub side: i32,
}

/// A tokenizer behind its C handle.
pub struct Handle(*mut Tokenizer);

// SAFETY: hf.h: any thread may encode, any number at once.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// Or the message of the failure.
    pub fn open(directory: &Path, family: i32, position_limit: usize) -> Result<Self, String> {
        let directory = directory.as_os_str().as_encoded_bytes();
        let (mut handle, mut error) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: all pointers are valid for the call.
        let status = unsafe {
            ffi::hf_tokenizer_open(
                directory.as_ptr().cast(),
                directory.len(),
                family,
                position_limit,
                &mut handle,
                &mut error,
            )
        };
        answer(status, error).map(|()| Self(handle))
    }

    pub fn max_length(&self) -> usize {
        // SAFETY: opened, and freed by `drop` alone.
        unsafe { ffi::hf_tokenizer_max_length(self.0) }
    }

    pub fn limit(&mut self, position_limit: usize) -> Result<(), String> {
        let mut error = ptr::null_mut();
        // SAFETY: opened, and nothing else uses it: it is borrowed for writing.
        let status = unsafe { ffi::hf_tokenizer_limit(self.0, position_limit, &mut error) };
        answer(status, error)
    }

    pub fn encode(&self, text: &[u8]) -> Result<Encoding, String> {
        self.encode_asked(text, Asked::default())
    }

    /// Checks what hf.h says of every encoding.
    pub fn encode_asked(&self, text: &[u8], asked: Asked) -> Result<Encoding, String> {
        let input = ffi::Input {
            text: text.as_ptr().cast(),
            text_length: text.len(),
            pair: asked.pair.as_ptr().cast(),
            pair_length: asked.pair.len(),
            truncation: asked.truncation,
            truncation_side: asked.side,
        };
        let mut error = ptr::null_mut();
        let mut raw = ffi::Encoding {
            input_ids: ptr::null_mut(),
            token_type_ids: ptr::null_mut(),
            length: 0,
            truncated: false,
        };
        // SAFETY: all pointers are valid for the call.
        let status = unsafe { ffi::hf_tokenizer_encode(self.0, &input, &mut raw, &mut error) };
        let is_too_long = status == 2;
        answer(status, error).inspect_err(|message| {
            assert_eq!(is_too_long, message.contains(" tokens"), "{message}")
        })?;
        // SAFETY: the arrays have this length, and are freed once, after they were copied.
        let encoding = unsafe {
            let encoding = Encoding {
                input_ids: slice::from_raw_parts(raw.input_ids, raw.length).to_vec(),
                token_type_ids: slice::from_raw_parts(raw.token_type_ids, raw.length).to_vec(),
                truncated: raw.truncated,
            };
            ffi::hf_encoding_free(&mut raw);
            encoding
        };
        assert!(raw.input_ids.is_null() && raw.token_type_ids.is_null());
        assert!(encoding.input_ids.len() <= self.max_length());
        let is_full = encoding.input_ids.len() == self.max_length();
        assert!(!encoding.truncated || is_full);
        Ok(encoding)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: opened, and not used again.
        unsafe { ffi::hf_tokenizer_free(self.0) };
    }
}

/// (name, dtype, shape, begin, end) of every tensor.
pub type TensorList = Vec<(Vec<u8>, String, Vec<i64>, usize, usize)>;

pub fn parse_safetensors(file: &[u8]) -> Result<TensorList, String> {
    let (mut tensors, mut error) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: all pointers are valid; entries are read before the list is freed, indices are under
    // the count.
    unsafe {
        let status =
            ffi::hf_safetensors_parse(file.as_ptr().cast(), file.len(), &mut tensors, &mut error);
        answer(status, error)?;
        let entry = |index| {
            let entry = ffi::hf_tensors_get(tensors, index);
            let name = slice::from_raw_parts(entry.name.cast::<u8>(), entry.name_length);
            let dtype = CStr::from_ptr(entry.dtype).to_str().expect("ASCII");
            let shape = slice::from_raw_parts(entry.shape, entry.rank);
            let (begin, end) = (entry.begin, entry.end);
            (name.to_vec(), dtype.to_owned(), shape.to_vec(), begin, end)
        };
        let list = (0..ffi::hf_tensors_count(tensors)).map(entry).collect();
        ffi::hf_tensors_free(tensors);
        Ok(list)
    }
}

/// Frees the message of a failed call, and returns it.
fn answer(status: i32, error: *mut c_char) -> Result<(), String> {
    if status == 0 {
        assert!(error.is_null(), "no error without a failure");
        return Ok(());
    }
    assert!(
        (1..=2).contains(&status) && !error.is_null(),
        "a failure has a message"
    );
    // SAFETY: a failed call set it; it is not used again.
    let message = unsafe {
        let message = CStr::from_ptr(error).to_str().expect("UTF-8").to_owned();
        ffi::hf_string_free(error);
        message
    };
    assert!(!message.is_empty());
    Err(message)
}
