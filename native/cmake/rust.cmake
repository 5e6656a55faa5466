# rust_static_library(TARGET CRATE_DIR INCLUDE_DIR): a crate built by cargo, as an imported library, with
# the headers that cxx makes of it.
#
# Cargo decides by itself what is out of date, so it is run at every build (0.1 s when nothing
# changed); the library's time stamp only moves when it was really rebuilt. A toolchain file says in
# RUST_TARGET what Rust calls the platform that is compiled for.
find_program(CARGO cargo REQUIRED)
set(RUSTC "" CACHE STRING "Rust's compiler; empty: the one that cargo takes")
set(RUST_TARGET_DIR ${CMAKE_BINARY_DIR}/rust CACHE PATH "Where cargo builds")

function(rust_static_library target crate_dir include_dir)
  set(target_dir ${RUST_TARGET_DIR})
  # The variable says where cxx puts its headers, too.
  set(cargo ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${target_dir})
  if(RUSTC)
    list(APPEND cargo RUSTC=${RUSTC})
  endif()
  if(RUST_TARGET)
    # Its linker, too, as `npm run test:arm64` says it: else each compiles what the other has compiled.
    set(options --target ${RUST_TARGET} --config target.${RUST_TARGET}.linker="${CMAKE_C_COMPILER}")
  endif()
  cmake_path(APPEND target_dir "${RUST_TARGET}" release lib${target}.a OUTPUT_VARIABLE archive)
  set(headers ${target_dir}/cxxbridge)
  file(MAKE_DIRECTORY ${headers})
  add_custom_target(${target}_cargo
    COMMAND ${cargo} ${CARGO} build --release --locked --lib --quiet ${options}
            --manifest-path ${crate_dir}/Cargo.toml
    BYPRODUCTS ${archive} ${headers}/${target}/src/bridge.rs.h ${headers}/${target}/src/exported/bridge.rs.h
               ${headers}/${target}/src/guard/bridge.rs.h
    COMMENT "cargo build ${target} (the first time takes a minute or two)"
    VERBATIM)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive})
  target_include_directories(${target} INTERFACE ${include_dir} ${headers})
  target_link_libraries(${target} INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
  add_dependencies(${target} ${target}_cargo)
endfunction()
