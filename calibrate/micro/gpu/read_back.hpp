// Results read back from the GPU for checks: elements of any precision as numbers, counts and sums.
#pragma once

#include <string_view>
#include <vector>

#include "calibrate/micro/gpu/kernels.hpp"
#include "calibrate/micro/gpu/resources.hpp"

namespace foretrain::micro {

/// fp16, bf16, fp64, or fp32 (also of tf32).
Element element_of(std::string_view precision);
int bytes_of(Element element);

/// Waits for the stream. Requires fp16, bf16, fp32 or fp64 elements.
std::vector<double> read_elements(Element element, const void* from, std::int64_t count,
                                  const Stream& stream);

double device_sum(Element element, const void* from, std::int64_t count, const Stream& stream);

/// How many elements are off by more than tolerance x |value|.
std::int64_t count_wrong(Element element, const void* from, std::int64_t count, double value,
                         double tolerance, const Stream& stream);

}  // namespace foretrain::micro
