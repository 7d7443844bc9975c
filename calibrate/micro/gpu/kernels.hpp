// The program's own kernels, each behind a function that launches it; C++17, as nvcc 11 reads it.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace foretrain::micro {

/// Of an operand's elements.
enum class Element { fp16, bf16, fp32, fp64 };

/// All return the launch's error code and do not wait.
cudaError_t launch_empty(cudaStream_t stream);
/// Keeps one thread busy for that long by the GPU's clock.
cudaError_t launch_spin(std::int64_t nanoseconds, cudaStream_t stream);
/// Spins, then writes `value` where the host reads it. `flag` is mapped host memory.
cudaError_t launch_flag(volatile std::uint32_t* flag, std::uint32_t value, std::int64_t nanoseconds,
                        cudaStream_t stream);
/// Spins on the host until the flag has the value, for ten seconds at most; the next synchronisation then
/// returns the error that kept the kernel from writing. tests/standin replaces it together with the kernel.
void wait_for_flag(const volatile std::uint32_t* flag, std::uint32_t value);

cudaError_t launch_copy(const float* from, float* to, std::int64_t count, cudaStream_t stream);
cudaError_t launch_add(const float* a, const float* b, float* sum, std::int64_t count, cudaStream_t stream);
/// Adds the sum to *total.
cudaError_t launch_reduce(const float* from, float* total, std::int64_t count, cudaStream_t stream);

/// to[i] = scale * pattern(i, seed), the pattern of plan/verify.hpp.
cudaError_t launch_fill_pattern(Element element, void* to, std::int64_t count, std::uint32_t seed,
                                double scale, cudaStream_t stream);
cudaError_t launch_fill(Element element, void* to, std::int64_t count, double value, cudaStream_t stream);
/// to[i] = (rank + 1) * (1 + i % 7): the input of a collective.
cudaError_t launch_fill_rank(float* to, std::int64_t count, int rank, cudaStream_t stream);
/// Adds the sum of all elements to *total.
cudaError_t launch_sum(Element element, const void* from, std::int64_t count, double* total,
                       cudaStream_t stream);
/// Adds the number of elements that are off by more than tolerance x |value| to *wrong.
cudaError_t launch_count_wrong(Element element, const void* from, std::int64_t count, double value,
                               double tolerance, unsigned long long* wrong, cudaStream_t stream);
/// to[i] = copied_word(i, offset) of plan/verify.hpp.
cudaError_t launch_fill_words(std::uint32_t* to, std::int64_t words, std::uint32_t offset,
                              cudaStream_t stream);

}  // namespace foretrain::micro
