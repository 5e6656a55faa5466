//! The C++ side of the bridges: functions into the library, headers into Cargo's target directory
//! (cxxbridge/hf/src/bridge.rs.h).

const BRIDGES: [&str; 3] = [
    "src/bridge.rs",
    "src/exported/bridge.rs",
    "src/guard/bridge.rs",
];

fn main() {
    cxx_build::bridges(BRIDGES)
        .std("c++20")
        .compile("hf-bridge");
    for bridge in BRIDGES {
        println!("cargo::rerun-if-changed={bridge}");
    }
}
