//! Empty: the build script is the content of this crate.
