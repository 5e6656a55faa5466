# Imported targets for a prebuilt LibTorch in the folder LIBTORCH (include/, lib/).
#
# find_package(Torch) is not used: on the PyPI build it asks for a CUDA toolkit. Only the CPU
# library is linked, and no ABI flag is set: 2.15 is built with the C++11 ABI everywhere.
if(NOT LIBTORCH)
  message(FATAL_ERROR "LIBTORCH is not set: build with `npm run build:native`")
endif()

foreach(name IN ITEMS c10 torch_cpu)
  add_library(torch::${name} SHARED IMPORTED)
  set_target_properties(torch::${name} PROPERTIES IMPORTED_LOCATION
    ${LIBTORCH}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}${name}${CMAKE_SHARED_LIBRARY_SUFFIX})
  if(NOT EXISTS ${LIBTORCH}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}${name}${CMAKE_SHARED_LIBRARY_SUFFIX})
    message(FATAL_ERROR "LIBTORCH=${LIBTORCH} holds no library ${name}")
  endif()
endforeach()

add_library(libtorch INTERFACE)
target_include_directories(libtorch SYSTEM INTERFACE
  ${LIBTORCH}/include ${LIBTORCH}/include/torch/csrc/api/include)
target_link_libraries(libtorch INTERFACE torch::torch_cpu torch::c10)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # Its own dependencies (libgomp, libcudart, libcupti) lie beside it, found by its own rpath.
  target_link_options(libtorch INTERFACE -Wl,-rpath-link,${LIBTORCH}/lib)
endif()
