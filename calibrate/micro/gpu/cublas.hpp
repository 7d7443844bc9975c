// cuBLAS, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cublas_v2.h>

#include "sim/base/shared_library.hpp"

namespace foretrain::micro {

/// The few functions used here, with the types they have since CUDA 11.
struct Cublas {
  /// nullptr when there is none; `folders` as of open_library().
  static std::shared_ptr<const Cublas> open(const std::vector<std::string>& folders);
  std::string version() const;
  /// Throws as fail_call() says.
  void check(cublasStatus_t status, const char* call, const char* file, int line) const;

  SharedLibrary library;
  cublasStatus_t (*create)(cublasHandle_t*) = nullptr;
  cublasStatus_t (*destroy)(cublasHandle_t) = nullptr;
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t) = nullptr;
  cublasStatus_t (*get_property)(libraryPropertyType, int*) = nullptr;
  const char* (*status_text)(cublasStatus_t) = nullptr;  ///< from CUDA 11.4.2 on
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                         const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                         cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
  cublasStatus_t (*gemm_batched)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                 const void*, const void*, cudaDataType, int, long long, const void*,
                                 cudaDataType, int, long long, const void*, void*, cudaDataType, int,
                                 long long, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
};

}  // namespace foretrain::micro

#define FORETRAIN_CUBLAS(api, call) (api).check((api).call, #call, __FILE__, __LINE__)
