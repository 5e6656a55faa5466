/** What emulation cannot run, and why. All else has to pass. */

/** Programs of the C++ suite. */
export const SUITES = {
  tsan_test:
    'ThreadSanitizer lays out all addresses of an arm64 process, and under QEMU comes to no test within ' +
    'minutes; engine_test and gemm_test have the same tests without it',
};

/** Tests of the C++ suite, as --gtest_filter names them. */
export const NATIVE = {};

/** Tests of the Rust suite. */
export const RUST = {};
