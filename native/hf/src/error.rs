use std::fmt;

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
