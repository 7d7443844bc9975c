// The rate of training that a line of a log states: samples or steps for each second, in the words of many
// programs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace foretrain {

/// A rate of training as a line of a log states it, with its unit.
struct TrainingRate {
  double per_s = 0;
  bool of_steps = false;   ///< steps for each second; otherwise samples
  bool of_tokens = false;  ///< tokens for each second: how many make a sample the line does not say
  bool per_gpu = false;
  bool is_total = false;  ///< a summary of lines above: "Total img/sec on 4 GPU(s): 1303"
  double half_width = 0;  ///< behind "+-"; 0: not said
};

/// The first rate in a line: "325.9 img/sec", "Throughput: 310 samples/s", "9.8it/s", "1.2s/it",
/// "train_steps_per_second': 3.2". `stands` tells a line that has such a mark and no figure that can be read
/// at it.
std::optional<TrainingRate> training_rate_in(std::string_view line, bool& stands);

// The same quantity measured again and again: its median and spread.

/// The median and spread of a figure that a log repeats.
struct RepeatedFigure {
  double median = 0;
  double spread = 0;  ///< standard deviation / median; 0 for a single figure
  int repeats = 0;
};

/// Requires at least one figure, all of them positive and finite.
RepeatedFigure repeated(std::vector<double> figures);

}  // namespace foretrain
