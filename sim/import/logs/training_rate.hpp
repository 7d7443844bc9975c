// Finds the rate of training that a line of a log states, in samples or steps a second, in the words of many
// programs; and the median of rates that a log repeats.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace foretrain {

/// A rate of training as a line of a log states it.
struct TrainingRate {
  /// The rate itself, of the unit that the flags below tell.
  double per_s = 0;
  /// True for steps a second, false for samples.
  bool of_steps = false;
  /// True for tokens a second; the line does not say how many tokens make a sample.
  bool of_tokens = false;
  /// True when the rate is of one GPU.
  bool per_gpu = false;
  /// True for a summary of the lines above, as in "Total img/sec on 4 GPU(s): 1303".
  bool is_total = false;
  /// Half width of an interval, the figure behind "+-"; 0 when there is none.
  double half_width = 0;
};

/// Returns the first rate in a line, such as "325.9 img/sec", "Throughput: 310 samples/s", "9.8it/s",
/// "1.2s/it" or "train_steps_per_second': 3.2".
/// Sets `stands` to true when the line has the mark of a rate with something that may be its figure, even if
/// that cannot be read; leaves it unchanged otherwise.
std::optional<TrainingRate> training_rate_in(std::string_view line, bool& stands);

// The rest of this header treats a quantity that was measured again and again.

/// The median and spread of a figure that a log repeats.
struct RepeatedFigure {
  double median = 0;
  /// Standard deviation divided by the median; 0 for a single figure.
  double spread = 0;
  int repeats = 0;
};

/// Returns median and spread. Requires at least one figure, and that all are positive and finite.
RepeatedFigure repeated(std::vector<double> figures);

}  // namespace foretrain
