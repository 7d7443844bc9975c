// Declares the rows of a summary that a framework prints of a network: type, shape of the result, and
// parameters of each layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// A row of a printed network summary.
struct SummaryRow {
  /// Type, such as "Conv2D", and Keras' name, such as "conv2d_1"; rows of torch have no name.
  std::string type, name;
  /// Sizes of the result as printed, for one sample, without the batch; -1: open.
  std::vector<std::int64_t> sizes;
  /// Parameters, trained or not; 0 where the row shows a mark in place of a number.
  std::int64_t parameters = 0;
  /// Names of the layers that it takes, where the summary has a column for them.
  std::vector<std::string> inputs;
  /// torchinfo: level of nesting; 0 for other summaries.
  int depth = 0;
  SourceSpan span{};
};

/// A printed network summary of Keras or torch.
struct NetworkSummary {
  /// Layers in printed order, without the rows that contain others.
  std::vector<SummaryRow> rows;
  /// Channels stand last in the printed shapes.
  bool is_keras = false;
  /// Bytes of one sample; 0: not printed.
  double input_bytes = 0;
  /// Total as the last lines give it; 0: not printed.
  std::int64_t parameters = 0;
};

/// Limits of a summary: bytes of the text, and rows.
inline constexpr std::size_t kLargestSummary = std::size_t{8} << 20;
inline constexpr std::size_t kMostSummaryRows = 20'000;

/// Returns the rows of a summary. Reports a text beyond the limits.
NetworkSummary read_summary_rows(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
