//! The functions of include/hf/hf.h. Each catches panics: one that left Rust would end the process.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::LazyLock;

use crate::error::{Error, Result, catch_panic};
use crate::tensors::{self, Tensor};
use crate::tokenizer::{self, Family, Side, Tokenizer, Truncation};

mod json;

const OK: i32 = 0;
const FAILED: i32 = 1;
const TOO_LONG: i32 = 2;

/// `hf_input`
#[repr(C)]
pub struct Input {
    pub text: *const c_char,
    pub text_length: usize,
    pub pair: *const c_char,
    pub pair_length: usize,
    pub truncation: i32,
    pub truncation_side: i32,
}

/// `hf_encoding`
#[repr(C)]
pub struct Encoding {
    pub input_ids: *mut i64,
    pub token_type_ids: *mut i64,
    pub length: usize,
    pub truncated: bool,
}

/// `hf_tensor`
#[repr(C)]
pub struct TensorEntry {
    pub name: *const c_char,
    pub name_length: usize,
    pub dtype: *const c_char,
    pub shape: *const i64,
    pub rank: usize,
    pub begin: usize,
    pub end: usize,
}

/// `hf_tensors`
pub struct Tensors {
    list: Vec<(Tensor, CString)>,
}

/// # Safety
/// `string` is null or came from a function of this page, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: the caller's promise; `fail` made it with `CString::into_raw`.
        drop(unsafe { CString::from_raw(string) });
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hf_tokenizers_version() -> *const c_char {
    static VERSION: LazyLock<CString> = LazyLock::new(|| {
        // The crate states its version nowhere but in the lock file that it was built from.
        let lock = include_str!("../Cargo.lock");
        let entry = lock.split("name = \"tokenizers\"\nversion = \"").nth(1);
        let version = entry.and_then(|rest| rest.split('"').next()).unwrap_or("?");
        CString::new(format!("tokenizers {version}")).unwrap_or_default()
    });
    VERSION.as_ptr()
}

/// # Safety
/// `directory` is readable for `directory_length` bytes; `tokenizer` and, unless null, `error` can
/// be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_open(
    directory: *const c_char,
    directory_length: usize,
    family: i32,
    position_limit: usize,
    tokenizer: *mut *mut Tokenizer,
    error: *mut *mut c_char,
) -> i32 {
    let result = guard(|| {
        // SAFETY: the caller's promise.
        let directory = unsafe { bytes(directory.cast(), directory_length) };
        let Some(family) = Family::from_c(family) else {
            return Err(Error::new(format!("unknown tokenizer family {family}")));
        };
        let directory = Path::new(OsStr::from_bytes(directory));
        Tokenizer::open(directory, family, position_limit)
    });
    // SAFETY: the caller's promise.
    unsafe {
        finish(result, error, |opened| {
            *tokenizer = Box::into_raw(Box::new(opened));
        })
    }
}

/// # Safety
/// `tokenizer` came from `hf_tokenizer_open`, was not freed, and nothing else uses it meanwhile;
/// `error`, unless null, can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_limit(
    tokenizer: *mut Tokenizer,
    position_limit: usize,
    error: *mut *mut c_char,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = guard(|| unsafe { &mut *tokenizer }.limit(position_limit));
    // SAFETY: the caller's promise.
    unsafe { finish(result, error, |()| {}) }
}

/// # Safety
/// `tokenizer` came from `hf_tokenizer_open` and was not freed; `error`, unless null, can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_require_ids_below(
    tokenizer: *const Tokenizer,
    rows: usize,
    error: *mut *mut c_char,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = guard(|| unsafe { &*tokenizer }.require_ids_below(rows));
    // SAFETY: the caller's promise.
    unsafe { finish(result, error, |()| {}) }
}

/// # Safety
/// `tokenizer` is null or came from `hf_tokenizer_open`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_free(tokenizer: *mut Tokenizer) {
    if !tokenizer.is_null() {
        // A panic in a destructor must not leave either; there is nobody to tell.
        let _ = guard(|| {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(tokenizer) });
            Ok(())
        });
    }
}

/// # Safety
/// `tokenizer` came from `hf_tokenizer_open` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_max_length(tokenizer: *const Tokenizer) -> usize {
    // SAFETY: the caller's promise.
    unsafe { &*tokenizer }.max_length()
}

/// # Safety
/// `tokenizer` came from `hf_tokenizer_open` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_padding_id(tokenizer: *const Tokenizer) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { &*tokenizer }.padding_id().map_or(-1, i64::from)
}

/// # Safety
/// `tokenizer` came from `hf_tokenizer_open` and was not freed; `input` and the texts it names are
/// readable; `encoding` and, unless null, `error` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tokenizer_encode(
    tokenizer: *const Tokenizer,
    input: *const Input,
    encoding: *mut Encoding,
    error: *mut *mut c_char,
) -> i32 {
    let result = guard(|| {
        // SAFETY: the caller's promise.
        let (tokenizer, input) = unsafe { (&*tokenizer, &*input) };
        // SAFETY: the caller's promise.
        let text = unsafe { bytes(input.text.cast(), input.text_length) };
        // SAFETY: the caller's promise.
        let pair = unsafe { bytes(input.pair.cast(), input.pair_length) };
        let [text, pair]: [Cow<str>; 2] = [text, pair].map(String::from_utf8_lossy);
        let Some(truncation) = Truncation::from_c(input.truncation) else {
            let strategy = input.truncation;
            return Err(Error::new(format!("unknown truncation {strategy}")));
        };
        tokenizer.encode(tokenizer::Input {
            text: &text,
            pair: Some(&pair),
            truncation,
            kept: kept_side(input.truncation_side)?,
        })
    });
    // SAFETY: the caller's promise.
    unsafe {
        finish(result, error, |encoded| {
            *encoding = Encoding {
                length: encoded.input_ids.len(),
                input_ids: into_raw(encoded.input_ids),
                token_type_ids: into_raw(encoded.token_type_ids),
                truncated: encoded.truncated,
            };
        })
    }
}

/// # Safety
/// `encoding` is null or was filled by `hf_tokenizer_encode`; its arrays are not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_encoding_free(encoding: *mut Encoding) {
    // SAFETY: the caller's promise.
    let Some(encoding) = (unsafe { encoding.as_mut() }) else {
        return;
    };
    for array in [&mut encoding.input_ids, &mut encoding.token_type_ids] {
        if !array.is_null() {
            let array = ptr::slice_from_raw_parts_mut(*array, encoding.length);
            // SAFETY: `into_raw` made it from a boxed slice of this length.
            drop(unsafe { Box::from_raw(array) });
        }
        *array = ptr::null_mut();
    }
    encoding.length = 0;
}

/// # Safety
/// `file` is readable for `size` bytes; `tensors` and, unless null, `error` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_safetensors_parse(
    file: *const c_void,
    size: usize,
    tensors: *mut *mut Tensors,
    error: *mut *mut c_char,
) -> i32 {
    let result = guard(|| {
        // SAFETY: the caller's promise.
        let list = tensors::parse(unsafe { bytes(file.cast(), size) })?;
        let with_dtype = list.into_iter().map(|tensor| {
            let dtype = CString::new(tensor.dtype.as_str()).unwrap_or_default();
            (tensor, dtype)
        });
        Ok(Tensors {
            list: with_dtype.collect(),
        })
    });
    // SAFETY: the caller's promise.
    unsafe {
        finish(result, error, |parsed| {
            *tensors = Box::into_raw(Box::new(parsed));
        })
    }
}

/// # Safety
/// `tensors` came from `hf_safetensors_parse` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tensors_count(tensors: *const Tensors) -> usize {
    // SAFETY: the caller's promise.
    unsafe { &*tensors }.list.len()
}

/// # Safety
/// `tensors` came from `hf_safetensors_parse` and was not freed; `index` is under the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tensors_get(tensors: *const Tensors, index: usize) -> TensorEntry {
    // SAFETY: the caller's promise.
    let tensors = unsafe { &*tensors };
    // SAFETY: the caller's promise; a panic here could not be answered.
    let (tensor, dtype) = unsafe { tensors.list.get_unchecked(index) };
    TensorEntry {
        name: tensor.name.as_ptr().cast(),
        name_length: tensor.name.len(),
        dtype: dtype.as_ptr(),
        shape: tensor.shape.as_ptr(),
        rank: tensor.shape.len(),
        begin: tensor.begin,
        end: tensor.end,
    }
}

/// # Safety
/// `tensors` is null or came from `hf_safetensors_parse`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_tensors_free(tensors: *mut Tensors) {
    if !tensors.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(tensors) });
    }
}

/// Of `hf_truncation_side`.
fn kept_side(value: i32) -> Result<Option<Side>> {
    match value {
        0 => Ok(None),
        1 => Ok(Some(Side::Start)),
        2 => Ok(Some(Side::End)),
        _ => Err(Error::new(format!("unknown truncation side {value}"))),
    }
}

/// A panic becomes an error.
fn guard<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(body)
        .unwrap_or_else(|message| Err(Error::new(format!("internal error: {message}"))))
}

/// # Safety
/// `error` is null or can be written.
unsafe fn finish<T>(result: Result<T>, error: *mut *mut c_char, store: impl FnOnce(T)) -> i32 {
    match result {
        Ok(value) => {
            store(value);
            OK
        }
        Err(failure) => {
            if !error.is_null() {
                let message = failure.to_string().replace('\0', "\u{fffd}");
                // SAFETY: the caller's promise.
                unsafe { *error = CString::new(message).unwrap_or_default().into_raw() };
            }
            if failure.is_too_long() {
                TOO_LONG
            } else {
                FAILED
            }
        }
    }
}

/// # Safety
/// `pointer` is readable for `length` bytes, as long as the result is used; it may be null when
/// `length` is 0.
unsafe fn bytes<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(pointer, length) }
}

fn into_raw(values: Vec<i64>) -> *mut i64 {
    Box::into_raw(values.into_boxed_slice()).cast()
}

#[cfg(test)]
mod tests;
