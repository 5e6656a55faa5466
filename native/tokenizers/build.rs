//! Compiles the C++ side of the bridges into the library. headers/build.rs provides the headers.

const BRIDGES: [&str; 3] = [
    "src/bridge.rs",
    "src/exported/bridge.rs",
    "src/guard/bridge.rs",
];

fn main() {
    cxx_build::bridges(BRIDGES)
        .std("c++20")
        .compile("tokenizers-bridge");
    for bridge in BRIDGES {
        println!("cargo::rerun-if-changed={bridge}");
    }
}
