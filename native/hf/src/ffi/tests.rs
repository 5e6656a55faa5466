use super::*;

#[test]
fn a_panic_becomes_an_error() {
    let fixed: Result<()> = guard(|| panic!("plain"));
    assert_eq!(fixed.unwrap_err().to_string(), "internal error: plain");
    let formatted: Result<()> = guard(|| panic!("number {}", 7));
    assert_eq!(
        formatted.unwrap_err().to_string(),
        "internal error: number 7"
    );
}

#[test]
fn a_message_with_nul_stays_whole() {
    let mut error = ptr::null_mut();
    let result: Result<()> = Err(Error::new("a\0b"));
    // SAFETY: `error` can be written; it is freed below.
    let status = unsafe { finish(result, &mut error, |()| ()) };
    // SAFETY: `finish` set it.
    let message = unsafe { std::ffi::CStr::from_ptr(error) };
    assert_eq!((status, message.to_str()), (FAILED, Ok("a\u{fffd}b")));
    // SAFETY: it came from `finish`.
    unsafe { hf_string_free(error) };
}
