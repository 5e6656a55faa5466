# rust_static_library(<target> <crate folder> <include folder>): builds a crate with cargo and imports it as a library.
#
# TARGET_headers generates the C++ headers of its bridges (crate TARGET_headers, seconds); every file that links TARGET
# waits for it. TARGET_cargo compiles the crate; add it to the dependencies of each program that links TARGET.
#
# Cargo tracks its own inputs, so both run in every build (0.1 s if nothing changed). The library's time stamp changes
# only if it was rebuilt. A toolchain file sets RUST_TARGET, Rust's name of the target platform.
find_program(CARGO cargo REQUIRED)
set(RUSTC "" CACHE STRING "Rust compiler; empty: cargo's default")
set(RUST_TARGET_DIR ${CMAKE_BINARY_DIR}/rust CACHE PATH "Build folder of cargo")

function(rust_static_library target crate_dir include_dir)
  set(target_dir ${RUST_TARGET_DIR})
  set(headers ${RUST_TARGET_DIR}/bridge_headers)
  set(cargo ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${target_dir} BRIDGE_HEADERS=${headers})
  if(RUSTC)
    list(APPEND cargo RUSTC=${RUSTC})
  endif()
  if(RUST_TARGET)
    # The same linker option as in `npm run test:arm64`: otherwise each of them recompiles everything.
    set(options --target ${RUST_TARGET} --config target.${RUST_TARGET}.linker="${CMAKE_C_COMPILER}")
  endif()
  list(APPEND cargo ${CARGO} build --release --locked --lib --quiet ${options}
    --manifest-path ${crate_dir}/Cargo.toml)
  cmake_path(APPEND target_dir "${RUST_TARGET}" release lib${target}.a OUTPUT_VARIABLE archive)
  file(MAKE_DIRECTORY ${headers})
  add_custom_target(${target}_headers
    COMMAND ${cargo} --package ${target}_headers
    BYPRODUCTS ${headers}/${target}/src/bridge.rs.h ${headers}/${target}/src/exported/bridge.rs.h
               ${headers}/${target}/src/guard/bridge.rs.h ${headers}/rust/cxx.h
    COMMENT "cargo build ${target}_headers"
    VERBATIM)
  add_custom_target(${target}_cargo
    COMMAND ${cargo}
    BYPRODUCTS ${archive}
    COMMENT "cargo build ${target} (the first build takes about a minute)"
    VERBATIM)
  add_dependencies(${target}_cargo ${target}_headers)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive})
  target_include_directories(${target} INTERFACE ${include_dir} ${headers})
  target_link_libraries(${target} INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
  add_dependencies(${target} ${target}_headers)
endfunction()
