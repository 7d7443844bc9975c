// Finds the rate of a training log. Each line with a rate is one of five kinds. The kind that tells most
// about the whole job decides, and the median of its lines is the rate.
#include "sim/import/pasted/pasted_rate.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/training_rate.hpp"

namespace foretrain {

namespace {

/// The lines of one kind, with the number of the first.
struct RateLines {
  std::vector<double> rates;
  int line = 0;
};

/// Kinds of rates, those that tell most in front; the order is that of the choice.
enum RateKind : std::size_t { of_total, of_samples, of_one_gpu, of_steps, of_tokens, rate_kinds };

/// Returns the kind of a line's rate.
RateKind kind_of_rate(const TrainingRate& rate) {
  if (rate.of_tokens) return of_tokens;
  if (rate.of_steps) return of_steps;
  if (rate.is_total) return of_total;
  return rate.per_gpu ? of_one_gpu : of_samples;
}

}  // namespace

std::optional<PastedRate> pasted_rate(std::string_view text, int gpus) {
  std::array<RateLines, rate_kinds> kinds;
  bool tokens_per_gpu = false;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    bool stands = false;
    const auto rate = training_rate_in(line.text, stands);
    if (!rate || !(rate->per_s > 0) || !std::isfinite(rate->per_s)) continue;
    RateLines& kind = kinds[kind_of_rate(*rate)];
    if (kind.rates.empty()) kind.line = line.number;
    kind.rates.push_back(rate->per_s);
    tokens_per_gpu = tokens_per_gpu || (rate->of_tokens && rate->per_gpu);
  }
  for (std::size_t kind = 0; kind < rate_kinds; ++kind) {
    if (kinds[kind].rates.empty()) continue;
    const RepeatedFigure figure = repeated(kinds[kind].rates);
    // The median is not disturbed by the slow first steps or by lines that include a validation.
    PastedRate out;
    out.of = kind == of_steps    ? PastedRate::Of::steps
             : kind == of_tokens ? PastedRate::Of::tokens
                                 : PastedRate::Of::samples;
    const bool is_of_one = kind == of_one_gpu || (kind == of_tokens && tokens_per_gpu);
    out.per_gpu = is_of_one && gpus == 0;
    out.per_s = figure.median * (is_of_one && gpus > 0 ? gpus : 1);
    out.spread = figure.spread, out.lines = figure.repeats, out.line = kinds[kind].line;
    return out;
  }
  return std::nullopt;
}

std::string in_words(const PastedRate& rate) {
  const std::string_view unit = rate.of == PastedRate::Of::steps     ? "steps/s"
                                : rate.of == PastedRate::Of::samples ? "samples/s"
                                                                     : "tokens/s";
  const std::string figure =
      rate.per_s < 1000 ? fmt::format("{:.4g}", rate.per_s) : fmt::format("{:.0f}", rate.per_s);
  std::string out = fmt::format("{}, {} {}{}", counted(rate.lines, "rate"), figure, unit,
                                rate.per_gpu ? " of one GPU" : "");
  return rate.spread > 0 ? out + fmt::format(", spread {:.2g} %", 100 * rate.spread) : out;
}

}  // namespace foretrain
