// What correct results are: patterns, and plain host references of products and convolutions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "calibrate/micro/plan/shapes.hpp"

namespace foretrain::micro {

/// Element `index` of the operand `seed`: an integer from -2 to 2, exact in every precision. The GPU's fill
/// kernel computes the same.
inline int pattern(std::uint64_t index, std::uint32_t seed) {
  std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  return static_cast<int>((x >> 40) % 5) - 2;
}

std::vector<double> pattern_values(std::int64_t count, std::uint32_t seed);

/// C = A B, column-major, `count` of them; operands are the patterns of seeds 1 and 2.
std::vector<double> reference_gemm(const GemmShape& shape);

enum class ConvPass { forward, data, weights };
/// Pictures as batch, channel, row, column; weights as filter, channel, row, column. The two operands of the
/// pass (input and weights; output gradient and weights; input and output gradient) are the patterns of seeds
/// 1 and 2.
std::vector<double> reference_conv(const ConvShape& shape, ConvPass pass);

/// Sum of all results of any pass when every element of one operand is 1 and of the other `value`.
double conv_checksum(const ConvShape& shape, double value);

/// What rank `rank` of `ranks` holds after a collective of patterns: element `index` (of its result) of
/// "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce" (rank 0 alone), "alltoall" or
/// "sendrecv" (from the previous rank). Rank r's input is collective_input(r, i). `elements`: of the whole
/// message, as bytes count it.
double collective_input(int rank, std::int64_t index);
double collective_result(std::string_view op, int rank, int ranks, std::int64_t index, std::int64_t elements);

/// The first element that is off by more than `tolerance` x max(1, |expected|), as "element 7 is 3, expected
/// 4"; empty when none is.
std::string first_difference(const std::vector<double>& found, const std::vector<double>& expected,
                             double tolerance);

/// Word `index` of a copied message; the GPU's fill kernel computes the same.
inline std::uint32_t copied_word(std::uint64_t index, std::uint32_t offset) {
  return (static_cast<std::uint32_t>(index) + offset) * 2654435761u;
}
/// As of first_difference(), for words that should be copied_word(i, offset).
std::string first_wrong_word(std::span<const std::uint32_t> words, std::uint32_t offset);

/// Relative error to allow in results of a precision, where inputs are exact.
double tolerance_of(std::string_view precision);

}  // namespace foretrain::micro
