# How every target of the project is compiled.

function(tidemark_compile target)
  # An include is the path one sees from the root: "tidemark/engine/tape/tape.h".
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wno-missing-field-initializers>
    # g++ 12 warns falsely about its own string and vector code.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-maybe-uninitialized>)
  # Nobody puts functions of his own in the place of ours: calls among them are direct and inlined.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  target_link_options(${target} PRIVATE $<$<PLATFORM_ID:Linux>:-Wl,-Bsymbolic-functions>)
  if(TIDEMARK_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TIDEMARK_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${TIDEMARK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    target_link_options(${target} PRIVATE -fsanitize=${TIDEMARK_SANITIZE})
  endif()
endfunction()

# For code that waits for what it calls, such as bindings and tests: optimizing it takes half of the
# time it takes to compile.
function(tidemark_optimize_less target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)
endfunction()

# In a unity build, as the package is built, files are compiled so many at once: headers are read,
# and templates made, once for all of them. Else each file is compiled alone.
function(tidemark_batch target batch)
  if(TIDEMARK_UNITY)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

# The same for targets whose headers are most of the compile time: without a unity build these are
# read once before all files.
function(tidemark_read_once target batch)
  tidemark_batch(${target} ${batch})
  if(NOT TIDEMARK_UNITY)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
