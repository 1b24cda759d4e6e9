# How every target of the project is compiled, and how headers are found.

# Headers are included as <tidemark/FOLDER/FILE.h>, in the tree as after installation: the build
# folder has one link per source folder.
set(TIDEMARK_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${TIDEMARK_INCLUDE_DIR}/tidemark)
foreach(folder base operators tape replay graph analyses reports)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/engine/${folder}
       ${TIDEMARK_INCLUDE_DIR}/tidemark/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/libtorch ${TIDEMARK_INCLUDE_DIR}/tidemark/torch SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/readers ${TIDEMARK_INCLUDE_DIR}/tidemark/readers SYMBOLIC)

function(tidemark_compile target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wno-missing-field-initializers>
    # g++ 12 warns falsely about its own string and vector code.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>)
  if(TIDEMARK_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${TIDEMARK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${TIDEMARK_SANITIZE})
  endif()
endfunction()
