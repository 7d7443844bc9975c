# foretrain-bench without a GPU or a toolkit: its sources against stand-ins for CUDA, cuBLAS, cuDNN, NCCL and NVML (tests/standin).
set(standin ${PROJECT_SOURCE_DIR}/tests/standin)
set(standin_folder ${PROJECT_BINARY_DIR}/standin)

# One library by its real name, so that dlopen finds it beside the program.
function(foretrain_standin name file)
  add_library(standin_${name} SHARED ${ARGN})
  target_include_directories(standin_${name} PUBLIC ${standin}/include)
  target_link_libraries(standin_${name} PRIVATE foretrain_flags)
  set_target_properties(standin_${name} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${file} LIBRARY_OUTPUT_DIRECTORY ${standin_folder}
                                                   BUILD_RPATH "$ORIGIN")
endfunction()

foretrain_standin(cudart libcudart-standin.so ${standin}/device.cpp ${standin}/cudart.cpp)
foretrain_standin(cublas libcublas.so.12 ${standin}/cublas.cpp)
foretrain_standin(cudnn libcudnn.so.9 ${standin}/cudnn.cpp)
foretrain_standin(nccl libnccl.so.2 ${standin}/nccl.cpp)
foretrain_standin(nvml libnvidia-ml.so.1 ${standin}/nvml.cpp)
foreach(library cublas cudnn nccl nvml)
  target_link_libraries(standin_${library} PRIVATE standin_cudart)
endforeach()

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/calibrate/micro/gpu/*.cpp)
add_executable(foretrain_bench_standin ${PROJECT_SOURCE_DIR}/calibrate/micro/main.cpp ${bench_sources} ${standin}/kernels.cpp)
foretrain_compile_together(foretrain_bench_standin)
target_compile_definitions(foretrain_bench_standin PRIVATE FORETRAIN_VERSION="${PROJECT_VERSION}")
target_compile_options(foretrain_bench_standin PRIVATE ${FORETRAIN_FORTIFY})
target_link_libraries(foretrain_bench_standin PRIVATE standin_cudart foretrain_bench_plan foretrain_flags)
target_precompile_headers(foretrain_bench_standin REUSE_FROM foretrain_base)
set_target_properties(foretrain_bench_standin PROPERTIES OUTPUT_NAME foretrain-bench RUNTIME_OUTPUT_DIRECTORY ${standin_folder}
                                                         BUILD_RPATH "$ORIGIN")

# What it measures, what comes back of it, and what it says when calls fail.
foretrain_add_tests(bench bench ${FORETRAIN_LIBRARIES})
add_dependencies(bench foretrain_bench_standin standin_cublas standin_cudnn standin_nccl standin_nvml)

# `calibrate machine` from end to end, with a stand-in for Python, too.
foretrain_add_tests(machine machine ${FORETRAIN_LIBRARIES})
add_dependencies(machine foretrain_bench_standin standin_cublas standin_cudnn standin_nccl standin_nvml)

# What `foretrain topology detect` opens on a node: NVML and hwloc that tell what a file says (tests/standin/node).
foretrain_standin(node_nvml libnvidia-ml.so.1 ${standin}/node/nvml.cpp)
foretrain_standin(node_hwloc libhwloc.so.15 ${standin}/node/hwloc.cpp)
set_target_properties(standin_node_nvml standin_node_hwloc PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/standin_node)
add_dependencies(unit_app standin_node_nvml standin_node_hwloc)
add_dependencies(machine standin_node_nvml)
