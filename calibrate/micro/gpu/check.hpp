// One check for every CUDA call: a failure names the call, the place and what CUDA says about it.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

namespace foretrain::micro {

/// Throws PointSkipped when memory is out or the GPU cannot do it (the next point may), EnvironmentError
/// otherwise.
void check_cuda(cudaError_t code, const char* call, const char* file, int line);

/// For a library's own codes: throws EnvironmentError "CALL failed in FILE:LINE: MEANING", PointSkipped when
/// `is_unsupported`.
[[noreturn]] void fail_call(const char* call, const char* file, int line, const std::string& meaning,
                            bool is_unsupported);

}  // namespace foretrain::micro

#define FORETRAIN_CUDA(call) ::foretrain::micro::check_cuda((call), #call, __FILE__, __LINE__)
