use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A message for the process output: "<file name>: <key>: <what is wrong, what was expected>".
#[derive(Debug)]
pub struct Error {
    message: String,
    is_too_long: bool,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_too_long: false,
        }
    }

    /// An input has more tokens than fit and must not be cut as it would have to be. For a client.
    pub fn too_long(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_too_long: true,
        }
    }

    pub fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// An error of a file, from whatever the file's reader said.
    pub fn in_file(file: &str, cause: impl fmt::Display) -> Self {
        Self::new(format!("{file}: {cause}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
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
