//! Compiles the C++ side of the bridge into the library. ffi/headers/build.rs provides the headers.

fn main() {
    cxx_build::bridge("src/bridge.rs")
        .std("c++20")
        .compile("guard-bridge");
    println!("cargo::rerun-if-changed=src/bridge.rs");
}
