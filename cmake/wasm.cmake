# The simulator as WebAssembly for the workshop page (tools/build_wasm): the packages that have headers alone, and the engine's one function.
set(include ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${include})
# Debian's headers of these packages and nothing else of /usr/include, which is another system's.
foreach(package boost fmt CLI nlohmann toml++)
  if(NOT EXISTS /usr/include/${package})
    message(FATAL_ERROR "/usr/include/${package} is missing: tools/install_packages build wasm")
  endif()
  file(CREATE_LINK /usr/include/${package} ${include}/${package} SYMBOLIC)
endforeach()
file(CREATE_LINK /usr/include/eigen3/Eigen ${include}/Eigen SYMBOLIC)
include_directories(SYSTEM ${include})
set(TOMLPLUSPLUS_INCLUDE_DIR ${include})

foreach(target fmt::fmt Boost::headers nlohmann_json::nlohmann_json CLI11::CLI11 Eigen3::Eigen)
  add_library(${target} INTERFACE IMPORTED)
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
add_compile_definitions(FMT_HEADER_ONLY)
add_compile_options(-fexceptions -Wno-unused-command-line-argument -include ${PROJECT_SOURCE_DIR}/web/workshop/engine/libcxx14.hpp)
add_link_options(-fexceptions)

# Sweeps run on threads and into files, and servers in processes (web/workshop/engine/absent.cpp).
# Readers of XML, YAML and packed files need libraries that are not there: a page that is given one says so (web/workshop/engine/absent.cpp).
set(FORETRAIN_ABSENT "(/app/(sweep/[a-z_]+|serve|mcp/[a-z_]+|web/[a-z_]+)|/import/(jobs/yaml|networks/simgrid_platform|machines/(gpu_query|nccl_graph|xml_source|hwloc_xml|nccl_topology)|logs/nvidia_smi_xml|accounting/gzip|traces/trace_bytes))\\.cpp$")
