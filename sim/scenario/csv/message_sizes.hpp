// Message sizes in the notation of nccl-tests: "8:1G:2", "1M:8M:+1M", "64M", "4K,1M,256M".
#pragma once

#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"

namespace foretrain {

/// Largest number of sizes of one question, and the largest size.
inline constexpr std::size_t kMostSizes = 100'000;
inline constexpr Bytes kLargestMessage{std::int64_t{1} << 50};

/// Returns the sizes of a list with commas, in its order. Items are sizes, FROM:TO (doubling), FROM:TO:FACTOR
/// and FROM:TO:+STEP; TO is only reached if a step falls on it. As in nccl-tests, K, M, G, T are powers of
/// two (Ki, KiB, … mean the same), and fractions of a byte are cut off. Reports every wrong item at its
/// place; `source` is one line.
std::vector<Bytes> read_message_sizes(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
