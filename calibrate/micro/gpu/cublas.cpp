// The library of this toolkit's major version; its binary interface is that of the header.
#include "calibrate/micro/gpu/cublas.hpp"

#include <fmt/format.h>

#include "calibrate/micro/gpu/check.hpp"
#include "calibrate/micro/plan/python.hpp"

namespace foretrain::micro {

std::shared_ptr<const Cublas> Cublas::open(const std::vector<std::string>& folders) {
  auto api = std::make_shared<Cublas>();
  const int major = CUDART_VERSION / 1000;
  // The one that cuBLAS needs first, so that it is found where a copy without a run path lies.
  (void)open_library(fmt::format("libcublasLt.so.{}", major), folders);
  api->library = open_library(fmt::format("libcublas.so.{}", major), folders);
  if (!api->library) api->library = SharedLibrary::open({"libcublas.so"});
  const SharedLibrary& library = api->library;
  library.load(api->status_text, "cublasGetStatusString");
  const bool is_whole =
      library.load(api->create, "cublasCreate_v2") && library.load(api->destroy, "cublasDestroy_v2") &&
      library.load(api->set_stream, "cublasSetStream_v2") &&
      library.load(api->get_property, "cublasGetProperty") && library.load(api->gemm, "cublasGemmEx") &&
      library.load(api->gemm_batched, "cublasGemmStridedBatchedEx");
  return is_whole ? api : nullptr;
}

std::string Cublas::version() const {
  int major = 0, minor = 0, patch = 0;
  get_property(MAJOR_VERSION, &major), get_property(MINOR_VERSION, &minor), get_property(PATCH_LEVEL, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

void Cublas::check(cublasStatus_t status, const char* call, const char* file, int line) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string meaning =
      status_text != nullptr ? status_text(status) : fmt::format("status {}", static_cast<int>(status));
  const bool is_about_point = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ALLOC_FAILED ||
                              status == CUBLAS_STATUS_ARCH_MISMATCH;
  fail_call(fmt::format("cublas {}", call).c_str(), file, line, meaning, is_about_point);
}

}  // namespace foretrain::micro
