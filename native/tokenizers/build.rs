//! Compiles the C++ side of the bridges into the library. ffi/headers/build.rs provides the headers.

const BRIDGES: [&str; 2] = ["src/bridge.rs", "src/exported/bridge.rs"];

fn main() {
    cxx_build::bridges(BRIDGES)
        .std("c++20")
        .compile("tokenizers-bridge");
    for bridge in BRIDGES {
        println!("cargo::rerun-if-changed={bridge}");
    }
}
