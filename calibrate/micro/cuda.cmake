# The program foretrain-bench: kernels by nvcc, the rest by the host compiler; every library but the CUDA runtime is opened at run time. They
# bring the shared libstdc++, so it is not linked statically: gold exports its unique symbols, and cuDNN died of the mixture on an H100.
# The compiler of `tools/install_nvcc`, where there is no other.
set(installed ${PROJECT_SOURCE_DIR}/build/nvcc/nvidia)
find_program(FORETRAIN_NVCC nvcc PATHS /usr/local/cuda/bin)
if(NOT FORETRAIN_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS ${installed}/cu13/bin/nvcc)
  set(CMAKE_CUDA_COMPILER ${installed}/cu13/bin/nvcc)
endif()
# Not by find_package(CUDAToolkit): up to CMake 3.25 it fails on CUDA 13, which has no nvToolsExt, and nothing but the runtime is linked.
enable_language(CUDA)
string(REGEX MATCH "^[0-9]+" toolkit_major ${CMAKE_CUDA_COMPILER_VERSION})

# CUDA 11 knows no sm_90, CUDA 13 nothing below sm_75. PTX of the newest goes in, for GPUs that come later.
set(architectures_11 60-real 70-real 75-real 80)
set(architectures_12 60-real 70-real 75-real 80-real 90)
set(architectures_13 75-real 80-real 90-real 100)
set(newest ${toolkit_major})
if(newest GREATER 13)
  set(newest 13)
endif()
set(FORETRAIN_CUDA_ARCHITECTURES ${architectures_${newest}} CACHE STRING "GPU architectures, as CMAKE_CUDA_ARCHITECTURES")

file(GLOB gpu_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/gpu/*.cpp)
add_library(foretrain_bench_kernels STATIC ${CMAKE_CURRENT_LIST_DIR}/gpu/kernels.cu)
target_include_directories(foretrain_bench_kernels PRIVATE ${PROJECT_SOURCE_DIR})
# The program is position-independent (cmake/hardening.cmake), and not every host compiler makes such objects unasked.
set_target_properties(foretrain_bench_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_STANDARD 17 CUDA_ARCHITECTURES "${FORETRAIN_CUDA_ARCHITECTURES}" CUDA_RUNTIME_LIBRARY Static)

add_executable(foretrain_bench ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${gpu_sources})
foretrain_compile_together(foretrain_bench)
set_target_properties(foretrain_bench PROPERTIES OUTPUT_NAME foretrain-bench RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CUDA_RUNTIME_LIBRARY Static)
target_compile_definitions(foretrain_bench PRIVATE FORETRAIN_VERSION="${PROJECT_VERSION}")
target_include_directories(foretrain_bench SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
if(CMAKE_CUDA_COMPILER STREQUAL "${installed}/cu13/bin/nvcc")
  target_include_directories(foretrain_bench SYSTEM PRIVATE ${installed}/cudnn/include ${installed}/nccl/include)
endif()

# Where a toolkit has no header of cuBLAS, the three libraries' declarations are those of the tests: good to see that all compiles.
option(FORETRAIN_STANDIN_HEADERS "Compile foretrain-bench against the tests' declarations of cuBLAS, cuDNN and NCCL" OFF)
if(FORETRAIN_STANDIN_HEADERS)
  foreach(header cublas_v2 cudnn nccl)
    file(READ ${PROJECT_SOURCE_DIR}/tests/standin/include/${header}.h text)
    file(CONFIGURE OUTPUT standin/${header}.h CONTENT "#include <cuda_runtime_api.h>\n#include <library_types.h>\n${text}" @ONLY)
  endforeach()
  target_include_directories(foretrain_bench BEFORE PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/standin)
endif()
target_link_libraries(foretrain_bench PRIVATE foretrain_bench_plan foretrain_bench_kernels foretrain_flags)
target_compile_options(foretrain_bench PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${FORETRAIN_FORTIFY}>)
target_precompile_headers(foretrain_bench REUSE_FROM foretrain_base)
install(TARGETS foretrain_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
