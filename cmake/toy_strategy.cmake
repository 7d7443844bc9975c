# The strategy that CONTRIBUTING.md shows, built from that very block: a second program and the strategy laws with one more row in the catalog.
set(toy_sources ${PROJECT_BINARY_DIR}/toy/one_by_one.cpp ${PROJECT_BINARY_DIR}/toy/catalog.cpp)
add_custom_command(
  OUTPUT ${toy_sources}
  COMMAND ${PROJECT_SOURCE_DIR}/tests/toy/make_sources.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/toy
  DEPENDS ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/sim/strategy/catalog.cpp ${PROJECT_SOURCE_DIR}/tests/toy/make_sources.sh
  VERBATIM)

# Objects come before the libraries, so the linker takes this catalog and leaves the libraries' own.
add_library(toy_strategy OBJECT ${toy_sources})
target_link_libraries(toy_strategy PRIVATE foretrain_flags fmt::fmt)

add_executable(foretrain_toy sim/app/main.cpp ${FORETRAIN_ENTRY} $<TARGET_OBJECTS:toy_strategy>)
target_link_libraries(foretrain_toy PRIVATE ${FORETRAIN_LIBRARIES})
add_test(NAME "toy: the strategy of CONTRIBUTING.md is everywhere a strategy is" COMMAND ${PROJECT_SOURCE_DIR}/tests/toy/check_program.sh
         $<TARGET_FILE:foretrain_toy>)
set_tests_properties("toy: the strategy of CONTRIBUTING.md is everywhere a strategy is"
                     PROPERTIES ENVIRONMENT FORETRAIN_PATH=${PROJECT_SOURCE_DIR} TIMEOUT ${FORETRAIN_TEST_TIMEOUT})

add_executable(toy_laws tests/laws/strategy_laws.cpp $<TARGET_OBJECTS:toy_strategy>)
target_link_libraries(toy_laws PRIVATE test_support test_outcome ${FORETRAIN_LIBRARIES})
target_precompile_headers(toy_laws REUSE_FROM test_support)
target_compile_definitions(toy_laws PRIVATE FORETRAIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
catch_discover_tests(toy_laws TEST_PREFIX "toy: " EXTRA_ARGS ${FORETRAIN_CATCH_ARGS}
                     PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT} SKIP_RETURN_CODE 4)

# What its author compiles again after giving it an option.
if(CMAKE_GENERATOR MATCHES "Ninja")
  add_test(NAME "toy: an option of its own compiles one object again" COMMAND ${PROJECT_SOURCE_DIR}/tests/toy/count_rebuilt.sh
           ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties("toy: an option of its own compiles one object again" PROPERTIES TIMEOUT ${FORETRAIN_TEST_TIMEOUT})
endif()
