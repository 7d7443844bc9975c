// The library of this toolkit's major version; its binary interface is that of the header.
#include "calibrate/micro/gpu/cublas.hpp"

#include <fmt/format.h>

#include "calibrate/micro/gpu/check.hpp"

namespace foretrain::micro {

std::shared_ptr<const Cublas> Cublas::open() {
  auto api = std::make_shared<Cublas>();
  api->library = SharedLibrary::open({fmt::format("libcublas.so.{}", CUDART_VERSION / 1000), "libcublas.so"});
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
