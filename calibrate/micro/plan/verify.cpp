// Plain loops: they only run over small problems. Sums of the patterns stay small, so 16-bit results are
// nearly exact.
#include "calibrate/micro/plan/verify.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace foretrain::micro {

namespace {

/// Where the products of a convolution meet, as indices of input, weights and output; calls visit(x, w, y)
/// for each.
template <class Visit>
void visit_products(const ConvShape& s, const Visit& visit) {
  const int channels = s.channels / s.groups, filters = s.filters / s.groups, out = s.output_size();
  for (int n = 0; n < s.batch; ++n) {
    for (int f = 0; f < s.filters; ++f) {
      for (int at = 0; at < out * out * channels * s.kernel * s.kernel; ++at) {
        const int column = at % s.kernel, row = at / s.kernel % s.kernel,
                  c = at / (s.kernel * s.kernel) % channels;
        const int place = at / (s.kernel * s.kernel * channels), oy = place / out, ox = place % out;
        const int y = oy * s.stride + row - s.padding(), x = ox * s.stride + column - s.padding();
        if (y < 0 || y >= s.size || x < 0 || x >= s.size) continue;
        const int channel = f / filters * channels + c;
        visit(((n * s.channels + channel) * s.size + y) * s.size + x,
              ((f * channels + c) * s.kernel + row) * s.kernel + column,
              ((n * s.filters + f) * out + oy) * out + ox);
      }
    }
  }
}

/// How many of the kernel's rows meet the picture, summed over the output's rows.
std::int64_t meeting_rows(const ConvShape& s) {
  std::int64_t rows = 0;
  for (int o = 0; o < s.output_size(); ++o) {
    for (int row = 0; row < s.kernel; ++row) {
      const int y = o * s.stride + row - s.padding();
      rows += y >= 0 && y < s.size ? 1 : 0;
    }
  }
  return rows;
}

}  // namespace

std::vector<double> pattern_values(std::int64_t count, std::uint32_t seed) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = pattern(i, seed);
  return values;
}

std::vector<double> reference_gemm(const GemmShape& s) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n),
             k = static_cast<std::size_t>(s.k);
  const auto a = pattern_values(std::int64_t{s.m} * s.k * s.count, 1),
             b = pattern_values(std::int64_t{s.k} * s.n * s.count, 2);
  std::vector<double> c(m * n * static_cast<std::size_t>(s.count));
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t row = i % m, column = i / m % n, which = i / (m * n);
    for (std::size_t depth = 0; depth < k; ++depth)
      c[i] += a[which * m * k + depth * m + row] * b[which * k * n + column * k + depth];
  }
  return c;
}

std::vector<double> reference_conv(const ConvShape& shape, ConvPass pass) {
  const auto value = [](int index, std::uint32_t seed) {
    return static_cast<double>(pattern(static_cast<std::uint64_t>(index), seed));
  };
  const std::int64_t size = pass == ConvPass::forward ? shape.output_elements()
                            : pass == ConvPass::data  ? shape.input_elements()
                                                      : shape.weight_elements();
  std::vector<double> result(static_cast<std::size_t>(size));
  visit_products(shape, [&](int x, int w, int y) {
    if (pass == ConvPass::forward) result[static_cast<std::size_t>(y)] += value(x, 1) * value(w, 2);
    if (pass == ConvPass::data) result[static_cast<std::size_t>(x)] += value(y, 1) * value(w, 2);
    if (pass == ConvPass::weights) result[static_cast<std::size_t>(w)] += value(x, 1) * value(y, 2);
  });
  return result;
}

double conv_checksum(const ConvShape& s, double value) {
  const double rows = static_cast<double>(meeting_rows(s));
  return value * rows * rows * s.batch * s.filters * (s.channels / s.groups);
}

double collective_input(int rank, std::int64_t index) {
  return (rank + 1) * static_cast<double>(1 + index % 7);
}

double collective_result(std::string_view op, int rank, int ranks, std::int64_t index,
                         std::int64_t elements) {
  const std::int64_t part = std::max<std::int64_t>(1, elements / ranks);
  const double ranks_sum = 0.5 * ranks * (ranks + 1);
  if (op == "all_reduce") return collective_input(0, index) * ranks_sum;
  if (op == "reduce")
    return rank == 0 ? collective_input(0, index) * ranks_sum : collective_input(rank, index);
  if (op == "reduce_scatter") return collective_input(0, rank * part + index) * ranks_sum;
  if (op == "all_gather") return collective_input(static_cast<int>(index / part), index % part);
  if (op == "alltoall") return collective_input(static_cast<int>(index / part), rank * part + index % part);
  if (op == "sendrecv") return collective_input((rank + ranks - 1) % ranks, index);
  return collective_input(0, index);  // broadcast
}

std::string first_difference(const std::vector<double>& found, const std::vector<double>& expected,
                             double tolerance) {
  if (found.size() != expected.size())
    return fmt::format("{} elements, expected {}", found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    // Negated, so that NaN is a difference.
    if (!(std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))))
      return fmt::format("element {} is {}, expected {}", i, found[i], expected[i]);
  }
  return "";
}

std::string first_wrong_word(std::span<const std::uint32_t> words, std::uint32_t offset) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != copied_word(i, offset))
      return fmt::format("word {} is {:08x}, expected {:08x}", i, words[i], copied_word(i, offset));
  }
  return "";
}

double tolerance_of(std::string_view precision) {
  if (precision == "fp64") return 1e-12;
  if (precision == "fp32") return 1e-5;
  return precision == "bf16" ? 2e-2 : 5e-3;
}

}  // namespace foretrain::micro
