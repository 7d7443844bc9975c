# libFuzzer targets: `cmake --preset fuzz`, then run build/fuzz/fuzz_scenario tests/fuzz/corpus/fuzz_scenario.
file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.cpp)
foreach(source IN LISTS fuzzers)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${FORETRAIN_LIBRARIES} foretrain_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
