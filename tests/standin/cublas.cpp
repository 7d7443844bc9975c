// cuBLAS of the made-up machine: an element of a product is summed up when it is looked at.
#include <cublas_v2.h>

#include "tests/standin/constants.hpp"
#include "tests/standin/device.hpp"

using namespace standin;

struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace {

struct Shape {
  std::int64_t m, n, k, count;
  double operations() const { return 2.0 * static_cast<double>(m * n * k * count); }
};

Element element_of(cudaDataType type) {
  if (type == CUDA_R_16F) return Element::fp16;
  if (type == CUDA_R_16BF) return Element::bf16;
  return type == CUDA_R_64F ? Element::fp64 : Element::fp32;
}

const Rate& rate_of(cudaDataType type, cublasComputeType_t compute) {
  if (type == CUDA_R_64F) return kFp64;
  if (type == CUDA_R_32F) return compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? kTf32 : kFp32;
  return kHalf;
}

/// Column-major, one product behind the other. Two constants give a constant.
Content product(const Content& a, const Content& b, Shape s) {
  if (a.constant && b.constant) return Content::all(*a.constant * *b.constant * static_cast<double>(s.k));
  return {[a, b, s](std::int64_t i) {
            const std::int64_t row = i % s.m, column = i / s.m % s.n, which = i / (s.m * s.n);
            double sum = 0;
            for (std::int64_t d = 0; d < s.k; ++d)
              sum += a.at((which * s.k + d) * s.m + row) * b.at((which * s.n + column) * s.k + d);
            return sum;
          },
          {},
          {}};
}

cublasStatus_t multiply(cublasHandle_t handle, Shape s, const void* a, const void* b, void* c,
                        cudaDataType type, cublasComputeType_t compute) {
  const Element element = element_of(type);
  const double size = element == Element::fp64 ? 8 : element == Element::fp32 ? 4 : 2;
  const double bytes = size * static_cast<double>(s.count * (s.m * s.k + s.k * s.n + s.m * s.n));
  enqueue(*handle->stream, compute_seconds(s.operations(), rate_of(type, compute).gemm_rate(), bytes));
  Content result = product(view(a, s.m * s.k * s.count, element), view(b, s.k * s.n * s.count, element), s);
  if (is_wanted("wrong_gemm")) result = Content::all(-1);
  put(c, s.m * s.n * s.count, element, std::move(result));
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define STANDIN_CALL(seconds)                                        \
  if (const int failed = begin_call(__func__, seconds); failed != 0) \
  return static_cast<cublasStatus_t>(failed)

extern "C" {

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
    default:
      return "a stand-in's failure";
  }
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  STANDIN_CALL(kOtherCall);
  *handle = new cublasContext();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  STANDIN_CALL(kOtherCall);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  STANDIN_CALL(kOtherCall);
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType what, int* value) {
  STANDIN_CALL(kOtherCall);
  *value = what == MAJOR_VERSION ? 12 : what == MINOR_VERSION ? 4 : 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                            const void*, const void* a, cudaDataType type, int, const void* b, cudaDataType,
                            int, const void*, void* c, cudaDataType, int, cublasComputeType_t compute,
                            cublasGemmAlgo_t) {
  STANDIN_CALL(kLaunchCall);
  return multiply(handle, {m, n, k, 1}, a, b, c, type, compute);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int m,
                                          int n, int k, const void*, const void* a, cudaDataType type, int,
                                          long long, const void* b, cudaDataType, int, long long, const void*,
                                          void* c, cudaDataType, int, long long, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  STANDIN_CALL(kLaunchCall);
  return multiply(handle, {m, n, k, count}, a, b, c, type, compute);
}

}  // extern "C"
