//! Errors of the crates. Their messages have the form `<file>: <key>: <problem>. <fix>`.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use anyhow::{Result, anyhow, bail, ensure};

/// Adds the location to an error.
pub trait At<T> {
    /// Prefixes the message of an error with `<location>: `.
    fn at(self, location: impl Display) -> Result<T>;
}

impl<T, E: Display> At<T> for Result<T, E> {
    fn at(self, location: impl Display) -> Result<T> {
        self.map_err(|error| anyhow!("{location}: {error}"))
    }
}

/// Runs `body` and converts a panic to an error with the panic's message. `body` must not leave partially changed
/// state behind.
pub fn catch_panic<T>(body: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        anyhow!("{}", text.unwrap_or("panic"))
    })
}

/// Result of a bridge function; the error becomes the message of `rust::Error` in C++.
pub type FfiResult<T> = std::result::Result<T, String>;

/// Runs the body of a bridge function. Panics become errors, because a panic that leaves Rust terminates the process.
/// NUL characters are replaced, because C++ reads messages up to the first NUL.
pub fn catch<T>(body: impl FnOnce() -> Result<T>) -> FfiResult<T> {
    let result = catch_panic(body)
        .at("internal error")
        .and_then(|result| result);
    result.map_err(|error| error.to_string().replace('\0', "\u{fffd}"))
}

#[cfg(test)]
mod tests;
