// Declares the rate that all lines of a training log give together, as one measurement.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// A training rate that a pasted text states.
struct PastedRate {
  enum class Of { steps, samples, tokens };
  Of of = Of::steps;
  /// Rate of all GPUs in 1/s: the median of the lines.
  double per_s = 0;
  /// Standard deviation divided by the median; 0 for a single line.
  double spread = 0;
  /// Number of lines with such a rate.
  int lines = 0;
  /// First of these lines.
  int line = 0;
  /// The lines give the rate of one GPU, and the number of GPUs is not known: `per_s` is that of one.
  bool per_gpu = false;
};

/// Returns the rate of a text. Totals count before samples, samples before those of one GPU, then steps, then
/// tokens. `gpus` multiplies rates of one GPU; 0: not known. Nothing where no line has a rate. Linear in the
/// text.
std::optional<PastedRate> pasted_rate(std::string_view text, int gpus);

/// Returns a rate in words: "12 rates, 326 samples/s, spread 3 %".
std::string in_words(const PastedRate& rate);

}  // namespace foretrain
