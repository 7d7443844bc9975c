# Compiler flags shared by every target, and ccache where there is one.

# The sloppiness is what ccache asks for with precompiled headers; base_dir and nohashdir let a second build folder or clone hit.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

# A third of the time of GNU's other linker; part of Debian's binutils.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold FORETRAIN_HAS_GOLD)

add_library(foretrain_flags INTERFACE)
target_include_directories(foretrain_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(foretrain_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# What clang's -Wconversion means besides g++'s.
target_compile_options(foretrain_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
# Elsewhere compilers fuse multiplications and additions, each in its own places, and predictions would differ in the last digit. The
# baseline of x86-64 has no such instruction.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(foretrain_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endif()
if(FORETRAIN_HAS_GOLD AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld")
  # Gold makes no static program that is position-independent (cmake/one_file.cmake).
  target_link_options(foretrain_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:FORETRAIN_STATIC>>>:-fuse-ld=gold>
                      $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:FORETRAIN_STATIC>>>>:-Wl,--icf=safe>)
endif()
if(CCACHE)
  target_compile_options(foretrain_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                         "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
# Of a release program and shared library are made of the same object files. Names that are hidden are called directly, so that this costs
# nothing that can be measured (docs/speed.md). Each function has a section of its own, so that linkers leave out what nobody calls.
set(FORETRAIN_IS_RELEASE OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT EMSCRIPTEN)
  set(FORETRAIN_IS_RELEASE ON)
  target_compile_options(foretrain_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fPIC;-fvisibility=hidden;-ffunction-sections;-fdata-sections>")
  target_link_options(foretrain_flags INTERFACE -Wl,--gc-sections)
endif()
include(cmake/hardening.cmake)
target_link_libraries(foretrain_flags INTERFACE foretrain_hardening)
if(FORETRAIN_WERROR)
  target_compile_options(foretrain_flags INTERFACE -Werror)
endif()
if(FORETRAIN_SANITIZE)
  target_compile_options(foretrain_flags INTERFACE -fsanitize=${FORETRAIN_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(foretrain_flags INTERFACE -fsanitize=${FORETRAIN_SANITIZE})
endif()
