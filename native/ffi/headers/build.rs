//! Generates the C++ headers of the bridges into the folder `BRIDGE_HEADERS`. C++ can be compiled as soon as these
//! exist, in parallel with the crates that implement the bridges. Does nothing if the variable is unset.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const BRIDGES: [&str; 3] = [
    "../../guard/src/bridge.rs",
    "../../tokenizers/src/bridge.rs",
    "../../tokenizers/src/exported/bridge.rs",
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=BRIDGE_HEADERS");
    for bridge in BRIDGES {
        println!("cargo::rerun-if-changed={bridge}");
    }
    let Some(folder) = env::var_os("BRIDGE_HEADERS").map(PathBuf::from) else {
        return Ok(());
    };
    // Headers are included by their path below native/: `guard/src/bridge.rs.h`.
    cxx_build::CFG.include_prefix = "";
    let _generated = cxx_build::bridges(BRIDGES);
    let generated = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    copy_changed(&generated.join("cxxbridge/include"), &folder)
}

/// Copies the files that differ. Unchanged files keep their time stamps, so that C++ is not compiled again.
fn copy_changed(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let source = entry?.path();
        let target = to.join(source.file_name().expect("an entry of a folder"));
        if source.is_dir() {
            copy_changed(&source, &target)?;
        } else {
            let content = fs::read(&source)?;
            if fs::read(&target).ok().as_ref() != Some(&content) {
                fs::write(&target, content)?;
            }
        }
    }
    Ok(())
}
