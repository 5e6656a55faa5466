/** What emulation cannot run, and why. All else has to pass. */

/** Tests of the C++ suite, as --gtest_filter names them. */
export const NATIVE = {};

/** Tests of the Rust suite. */
export const RUST = {};
