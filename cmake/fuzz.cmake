# libFuzzer targets (docs/fuzzing.md): `cmake --preset fuzz`, then run build/fuzz/fuzz_scenario tests/fuzz/corpus/fuzz_scenario.
# Each has of the libraries only what it reaches: what is not there has no counters to clear and read for every input.
add_library(fuzz_mutators OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/custom_mutator.cpp ${PROJECT_SOURCE_DIR}/tests/fuzz/mutators/mutate.cpp
            ${PROJECT_SOURCE_DIR}/tests/fuzz/mutators/pieces.cpp)
target_include_directories(fuzz_mutators PRIVATE ${PROJECT_SOURCE_DIR})
file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.cpp)
foreach(source IN LISTS fuzzers)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE fuzz_mutators ${FORETRAIN_LIBRARIES} foretrain_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
