// The rate that a training's log says, out of all its lines: what one measurement is made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace foretrain {

/// A training rate that a pasted text states.
struct PastedRate {
  enum class Of { steps, samples, tokens };
  Of of = Of::steps;
  double per_s = 0;   ///< of all GPUs: the median of its lines
  double spread = 0;  ///< standard deviation over the median; 0 for one line
  int lines = 0;      ///< that say it
  int line = 0;       ///< the first of them
  /// The lines say it of one GPU, and how many there were is not known: `per_s` is of one.
  bool per_gpu = false;
};

/// Totals before samples, samples before those of one GPU, then steps, then tokens. `gpus` multiplies what is
/// said of one GPU; 0: not known. Nothing where no line has a rate.
std::optional<PastedRate> pasted_rate(std::string_view text, int gpus);

/// "12 rates, 326 samples/s, spread 3 %".
std::string in_words(const PastedRate& rate);

}  // namespace foretrain
