// The call is quoted up to its first parenthesis, the file without the folders above the repository.
#include "calibrate/micro/gpu/check.hpp"

#include <string_view>

#include <fmt/format.h>

#include "calibrate/micro/plan/outcome.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain::micro {

namespace {

std::string_view name_of(std::string_view call) { return call.substr(0, call.find('(')); }

std::string_view short_file(std::string_view file) {
  const std::size_t at = file.rfind("calibrate/");
  return at == std::string_view::npos ? file : file.substr(at);
}

/// Another point may still work; after the other errors the CUDA context is lost.
bool is_about_point(cudaError_t code) {
  return code == cudaErrorMemoryAllocation || code == cudaErrorNotSupported ||
         code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue;
}

}  // namespace

void check_cuda(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // it would come again from the next launch
  if (code == cudaErrorNoKernelImageForDevice)
    throw EnvironmentError(
        "this foretrain-bench has no kernels for this GPU; build it with -DFORETRAIN_CUDA_ARCHITECTURES of "
        "the GPU's compute capability");
  fail_call(call, file, line, fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code)),
            is_about_point(code));
}

void fail_call(const char* call, const char* file, int line, const std::string& meaning,
               bool is_unsupported) {
  const std::string text =
      fmt::format("{} failed in {}:{}: {}", name_of(call), short_file(file), line, meaning);
  if (is_unsupported) throw PointSkipped(text);
  throw EnvironmentError(text);
}

}  // namespace foretrain::micro
