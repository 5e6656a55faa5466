//! JSON for C++. Values are pointers into the tree, valid as long as its root.

use std::ffi::c_char;
use std::ptr;

use super::{bytes, finish, guard};
use crate::json::{self, Json};

/// # Safety
/// `document` is readable for `length` bytes; `root` and, unless null, `error` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_parse(
    document: *const c_char,
    length: usize,
    root: *mut *mut Json,
    error: *mut *mut c_char,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = guard(|| json::parse(unsafe { bytes(document.cast(), length) }));
    // SAFETY: the caller's promise.
    unsafe {
        finish(result, error, |parsed| {
            *root = Box::into_raw(Box::new(parsed));
        })
    }
}

/// # Safety
/// `root` is null or came from `hf_json_parse`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_free(root: *mut Json) {
    if !root.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(root) });
    }
}

/// # Safety
/// `value` belongs to a root that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_kind_of(value: *const Json) -> i32 {
    // SAFETY: the caller's promise.
    match unsafe { &*value } {
        Json::Null => 0,
        Json::Bool(_) => 1,
        Json::Integer(_) => 2,
        Json::Number(_) => 3,
        Json::String(_) => 4,
        Json::Array(_) => 5,
        Json::Object(_) => 6,
    }
}

/// # Safety
/// `value` belongs to a root that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_bool(value: *const Json) -> bool {
    // SAFETY: the caller's promise.
    matches!(unsafe { &*value }, Json::Bool(true))
}

/// # Safety
/// `value` belongs to a root that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_integer(value: *const Json) -> i64 {
    // SAFETY: the caller's promise.
    match unsafe { &*value } {
        Json::Integer(integer) => *integer,
        _ => 0,
    }
}

/// # Safety
/// `value` belongs to a root that was not freed.
#[unsafe(no_mangle)]
#[expect(clippy::cast_precision_loss, reason = "asked for as a double")]
pub unsafe extern "C" fn hf_json_number(value: *const Json) -> f64 {
    // SAFETY: the caller's promise.
    match unsafe { &*value } {
        Json::Integer(integer) => *integer as f64,
        Json::Number(number) => *number,
        _ => 0.0,
    }
}

/// # Safety
/// `value` belongs to a root that was not freed; `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_string(value: *const Json, length: *mut usize) -> *const c_char {
    // SAFETY: the caller's promise.
    let text = match unsafe { &*value } {
        Json::String(text) => text,
        _ => "",
    };
    // SAFETY: the caller's promise.
    unsafe { *length = text.len() };
    text.as_ptr().cast()
}

/// # Safety
/// `value` belongs to a root that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_length(value: *const Json) -> usize {
    // SAFETY: the caller's promise.
    match unsafe { &*value } {
        Json::Array(values) => values.len(),
        Json::Object(entries) => entries.len(),
        _ => 0,
    }
}

/// # Safety
/// `value` belongs to a root that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_at(value: *const Json, index: usize) -> *const Json {
    // SAFETY: the caller's promise.
    let found = match unsafe { &*value } {
        Json::Array(values) => values.get(index),
        Json::Object(entries) => entries.get(index).map(|(_, entry)| entry),
        _ => None,
    };
    found.map_or(ptr::null(), ptr::from_ref)
}

/// # Safety
/// `value` belongs to a root that was not freed; `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hf_json_key(
    value: *const Json,
    index: usize,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: the caller's promise.
    let key = match unsafe { &*value } {
        Json::Object(entries) => entries.get(index).map_or("", |(key, _)| key),
        _ => "",
    };
    // SAFETY: the caller's promise.
    unsafe { *length = key.len() };
    key.as_ptr().cast()
}
