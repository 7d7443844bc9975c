# The layers of sim/ from the ground up (docs/architecture.md); a layer links every layer named before it and its own packages.
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(pugixml REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(ZLIB REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)

set(FORETRAIN_LAYERS base engine cluster workload collective strategy scenario import analysis report app)
set(FORETRAIN_PACKAGES_base fmt::fmt)
set(FORETRAIN_PACKAGES_cluster Boost::headers)
set(FORETRAIN_PACKAGES_report nlohmann_json::nlohmann_json)
set(FORETRAIN_PACKAGES_import nlohmann_json::nlohmann_json pugixml::pugixml ${YAML_CPP_LIBRARIES} ZLIB::ZLIB Boost::headers)
set(FORETRAIN_PACKAGES_app CLI11::CLI11)

# Half of a small file's compilation is headers, so several sources make one unit; those that use an expensive library share the first.
function(foretrain_compile_together target)
  get_target_property(sources ${target} SOURCES)
  set(place 0)
  set(expensive "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} hits LIMIT_COUNT 1 REGEX "^#include .*(json_value|nlohmann/json|CLI/CLI)\\.hpp")
    if(hits)
      list(APPEND expensive ${source})
    else()
      math(EXPR unit "${place} / ${FORETRAIN_UNITY_SIZE}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
      math(EXPR place "${place} + 1")
    endif()
  endforeach()
  set_source_files_properties(${expensive} PROPERTIES UNITY_GROUP expensive)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FORETRAIN_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# calibrate/fit: least squares over plain numbers. It knows no model; analysis/ joins the two.
file(GLOB fit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/calibrate/fit/*.cpp)
add_library(foretrain_fit STATIC ${fit_sources})
foretrain_compile_together(foretrain_fit)

# The samples' reader and writer by themselves: on a cluster foretrain-bench is built in a minute, without the simulator.
set(FORETRAIN_SAMPLES_SOURCES samples.cpp samples_reader.cpp sample_sheet.cpp csv_line.cpp text_scan.cpp)
list(TRANSFORM FORETRAIN_SAMPLES_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/sim/scenario/csv/)
add_library(foretrain_samples STATIC ${FORETRAIN_SAMPLES_SOURCES})
foretrain_compile_together(foretrain_samples)

# The template of --html as bytes of the program: `make page` builds it from web/report, so that a build needs no node.
set(FORETRAIN_PAGE ${PROJECT_SOURCE_DIR}/web/report/page.html.gz)
set(FORETRAIN_PACKED_PAGE ${PROJECT_BINARY_DIR}/packed_page.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FORETRAIN_PAGE})
if(${FORETRAIN_PAGE} IS_NEWER_THAN ${FORETRAIN_PACKED_PAGE})
  file(READ ${FORETRAIN_PAGE} page_bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," page_bytes "${page_bytes}")
  file(WRITE ${FORETRAIN_PACKED_PAGE} "// Made by cmake/layers.cmake of web/report/page.html.gz.
#include \"sim/report/page/page.hpp\"

namespace foretrain {

std::string_view packed_page() {
  static const unsigned char kBytes[] = {${page_bytes}};
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

}  // namespace foretrain
")
endif()
set_source_files_properties(${FORETRAIN_PACKED_PAGE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

set(below "")
foreach(layer IN LISTS FORETRAIN_LAYERS)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sim/${layer}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/app/main\\.cpp$")
  list(REMOVE_ITEM sources ${FORETRAIN_SAMPLES_SOURCES})
  if(NOT sources)
    continue()
  endif()
  if(layer STREQUAL "report")
    list(APPEND sources ${FORETRAIN_PACKED_PAGE})
  endif()
  add_library(foretrain_${layer} STATIC ${sources})
  foretrain_compile_together(foretrain_${layer})
  target_link_libraries(foretrain_${layer} PUBLIC ${below} foretrain_flags PRIVATE ${FORETRAIN_PACKAGES_${layer}})
  if(layer STREQUAL "base")
    target_precompile_headers(foretrain_base PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.hpp)
    target_link_libraries(foretrain_base PUBLIC fmt::fmt ${CMAKE_DL_LIBS})
    target_link_libraries(foretrain_fit PUBLIC foretrain_base PRIVATE Eigen3::Eigen)
    # The same digits on every CPU, and no intrinsics, which g++ 12 refuses in an unoptimised build with a precompiled header.
    target_compile_definitions(foretrain_fit PRIVATE EIGEN_DONT_VECTORIZE)
    target_precompile_headers(foretrain_fit REUSE_FROM foretrain_base)
    target_link_libraries(foretrain_samples PUBLIC foretrain_base foretrain_flags)
    target_precompile_headers(foretrain_samples REUSE_FROM foretrain_base)
    list(PREPEND below foretrain_samples foretrain_fit)
  else()
    target_precompile_headers(foretrain_${layer} REUSE_FROM foretrain_base)
  endif()
  # What reads and writes text once a run is optimised less: half of these layers' compilation for some milliseconds of a run.
  if(layer MATCHES "^(scenario|import|report|app)$")
    target_compile_options(foretrain_${layer} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(FORETRAIN_TIDY)
    set_target_properties(foretrain_${layer} PROPERTIES CXX_CLANG_TIDY "${FORETRAIN_TIDY}")
  endif()
  list(PREPEND below foretrain_${layer})
endforeach()
if(TARGET foretrain_app)
  target_compile_definitions(foretrain_app PRIVATE FORETRAIN_VERSION="${PROJECT_VERSION}")
endif()
if(TARGET foretrain_scenario)
  target_include_directories(foretrain_scenario SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE_DIR})
endif()
# Alone in its object file, so that a program with a catalog of its own (cmake/toy_strategy.cmake) leaves it in the library.
set_source_files_properties(${PROJECT_SOURCE_DIR}/sim/strategy/catalog.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set(FORETRAIN_LIBRARIES ${below})

if(EXISTS ${PROJECT_SOURCE_DIR}/sim/app/main.cpp)
  add_executable(foretrain sim/app/main.cpp)
  target_link_libraries(foretrain PRIVATE ${FORETRAIN_LIBRARIES})
  set_target_properties(foretrain PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()
