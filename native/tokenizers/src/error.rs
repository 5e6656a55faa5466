//! Errors are messages for the process output: "<file name>: <key>: <what is wrong, what was expected>".

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use anyhow::{Result, anyhow, bail, ensure};

/// An input has more tokens than fit and must not be cut as it would have to be. For a client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TooLong(pub String);

pub trait At<T> {
    /// An error says where it is: "<place>: <what is wrong>".
    fn at(self, place: impl Display) -> Result<T>;
}

impl<T, E: Display> At<T> for Result<T, E> {
    fn at(self, place: impl Display) -> Result<T> {
        self.map_err(|error| anyhow!("{place}: {error}"))
    }
}

/// Runs `body`; a panic becomes an error with its message. What `body` borrows is never written by
/// it, so that no half-made state can be seen afterwards.
pub fn catch_panic<T>(body: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        anyhow!("{}", text.unwrap_or("panic"))
    })
}
