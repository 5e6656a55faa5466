# Compiles for Linux on arm64 (armv8-a: any of them), with Debian's cross compiler: scripts/cross.mjs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)  # GoogleTest asks for one
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(RUST_TARGET aarch64-unknown-linux-gnu)
