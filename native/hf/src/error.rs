use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A message for the process output: "<file name>: <key>: <what is wrong, what was expected>".
#[derive(Debug)]
pub struct Error(String);

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// An error of a file, from whatever the file's reader said.
    pub fn in_file(file: &str, cause: impl fmt::Display) -> Self {
        Self(format!("{file}: {cause}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Runs `body`; a panic becomes its message. What `body` borrows is never written by it, so that no
/// half-made state can be seen afterwards.
pub fn catch_panic<T>(body: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(body))
        .map_err(|payload| panic_message(payload.as_ref()).to_owned())
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic")
}
