// The rows of a summary that a framework prints of a network: a layer's type, the shape of its result, its
// parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// A row of a printed network summary.
struct SummaryRow {
  std::string type, name;           ///< "Conv2D", "conv2d_1"; types of torch have no name
  std::vector<std::int64_t> sizes;  ///< of one sample as printed, without the batch
  std::int64_t parameters = 0;
  std::vector<std::string> inputs;  ///< by name, where the summary has a column for that
  bool is_recursive = false;        ///< its parameters were counted above
  int depth = 0;
  SourceSpan span{};
};

/// A printed network summary of Keras or torch.
struct NetworkSummary {
  std::vector<SummaryRow> rows;  ///< layers, not what contains them
  bool is_keras = false;         ///< channels stand last
  double input_bytes = 0;        ///< of a sample; 0: not said
  std::int64_t parameters = 0;   ///< as the last lines say; 0: not said
};

inline constexpr std::size_t kLargestSummary = std::size_t{8} << 20;
inline constexpr std::size_t kMostSummaryRows = 20'000;

NetworkSummary read_summary_rows(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
