use super::guard;
use crate::error::anyhow;

#[test]
fn a_panic_becomes_an_error() {
    let message = |text: &str| Err(text.to_owned());
    assert_eq!(
        guard::<()>(|| panic!("plain")),
        message("internal error: plain")
    );
    assert_eq!(
        guard::<()>(|| panic!("number {}", 7)),
        message("internal error: number 7")
    );
}

#[test]
fn a_message_with_nul_stays_whole() {
    let failed = guard::<()>(|| Err(anyhow!("a\0b")));
    assert_eq!(failed, Err("a\u{fffd}b".to_owned()));
}
