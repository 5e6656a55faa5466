use super::{anyhow, catch};

#[test]
fn a_panic_becomes_an_error() {
    let message = |text: &str| Err(text.to_owned());
    assert_eq!(
        catch::<()>(|| panic!("plain")),
        message("internal error: plain")
    );
    assert_eq!(
        catch::<()>(|| panic!("number {}", 7)),
        message("internal error: number 7")
    );
}

#[test]
fn a_message_with_nul_stays_whole() {
    let failed = catch::<()>(|| Err(anyhow!("a\0b")));
    assert_eq!(failed, Err("a\u{fffd}b".to_owned()));
}
