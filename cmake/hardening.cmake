# Hardening of every program: what turns a memory error into an ended program instead of a wrong answer or foreign code. Instrumented builds
# (sanitizers, fuzzing) and WebAssembly have their own means; docs/speed.md says what it costs.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

option(FORETRAIN_HARDENING "Stack protector, FORTIFY, library assertions, CET, PIE, full RELRO" ON)
add_library(foretrain_hardening INTERFACE)
if(FORETRAIN_HARDENING AND NOT EMSCRIPTEN AND NOT FORETRAIN_SANITIZE AND NOT FORETRAIN_FUZZ)
  # Position-independent executables: the linker's half; the compiler's half is below, because libraries would get -fPIC of CMake.
  check_pie_supported(OUTPUT_VARIABLE ignored LANGUAGES CXX)
  # A release's code also goes into the shared library (cmake/library.cmake), and has its flags from there.
  if(NOT FORETRAIN_IS_RELEASE)
    set(is_library $<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>)
    target_compile_options(foretrain_hardening INTERFACE $<$<COMPILE_LANGUAGE:CXX>:$<$<NOT:${is_library}>:-fPIE>>)
  endif()
  # Not of the static program (cmake/one_file.cmake), whose -static-pie it would undo.
  target_link_options(foretrain_hardening INTERFACE
                      $<$<AND:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,$<NOT:$<BOOL:$<TARGET_PROPERTY:FORETRAIN_STATIC>>>>:-pie>)
  # The last is CET of x86 and pointer authentication of ARM: whichever the compiler knows.
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "FORETRAIN_HAS${flag}" known)
    check_cxx_compiler_flag("-Werror ${flag}" ${known})
    if(${known})
      target_compile_options(foretrain_hardening INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
    endif()
  endforeach()
  # Relocations are resolved at the start, and their table is read-only from then on.
  check_linker_flag(CXX "-Wl,-z,relro,-z,now" FORETRAIN_HAS_RELRO)
  if(FORETRAIN_HAS_RELRO)
    target_link_options(foretrain_hardening INTERFACE -Wl,-z,relro,-z,now)
  endif()
endif()

# The C++ library's assertions, under sanitizers too; not for targets whose property FORETRAIN_UNCHECKED is on.
if(FORETRAIN_HARDENING AND NOT EMSCRIPTEN)
  target_compile_definitions(foretrain_hardening INTERFACE
                             $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:FORETRAIN_UNCHECKED>>>>:_GLIBCXX_ASSERTIONS>)
endif()
# In a release the library's assertions are not in the layers whose loops take a prediction's time: there they cost a fifth to a half of its
# instructions (docs/speed.md). No layer of these reads text. Builds for tests have them in every layer.
set(FORETRAIN_UNCHECKED_LAYERS "")
if(FORETRAIN_IS_RELEASE)
  set(FORETRAIN_UNCHECKED_LAYERS engine cluster workload collective strategy analysis)
endif()

# The C library's checked copies need an optimised build, and warn in others: the layers are optimised in every build type, tests in none.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if(FORETRAIN_HARDENING AND NOT EMSCRIPTEN AND NOT FORETRAIN_SANITIZE AND NOT FORETRAIN_FUZZ
   AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "-O[123s]")
  set(FORETRAIN_FORTIFY -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
