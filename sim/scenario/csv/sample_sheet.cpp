// The sheet has three limits: samples, remembered reasons, and facts. Entries beyond a limit are counted, or
// reported once.
#include "sim/scenario/csv/sample_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Largest number of facts, and longest fact in bytes.
constexpr std::size_t kMostFacts = 200;
constexpr std::size_t kLongestFact = 2000;

/// Makes a text printable. Logs have any encoding and the colours of terminals, and a cut may fall into a
/// character.
void make_printable(std::string& text) {
  if (!is_printable(text)) text = printable(text);
}

}  // namespace

/// Shares may be zero or negative; all other values are positive.
std::string fault_of(const Sample& sample) {
  const std::string unit(kSampleUnitNames[static_cast<std::size_t>(sample.unit)]);
  if (std::isnan(sample.value)) return "the value is not a number";
  if (std::isinf(sample.value)) return "the value is infinite";
  const bool is_share = sample.unit == SampleUnit::share;
  // A share may be zero; a time or rate may not.
  if (!is_share && sample.value == 0) return fmt::format("the value is 0 {}", unit);
  if (!is_share && sample.value < 0) return fmt::format("the value is negative: {} {}", sample.value, unit);
  if (!is_share && (sample.value < kLeastMeasured || sample.value > kMostMeasured))
    return fmt::format("the value is not from {:g} to {:g} {}", kLeastMeasured, kMostMeasured, unit);
  if (!std::isfinite(sample.spread) || sample.spread < 0) return "the spread is no number from 0 up";
  if (sample.repeats < 1) return "repeats must be at least 1";
  if (sample.bytes < 0 || sample.bytes > kLargestSampleBytes) return "the size is impossible";
  if (sample.gpus < 0 || sample.gpus > kMostSampleGpus || sample.nodes < 1 || sample.nodes > kMostSampleGpus)
    return "the numbers of GPUs and nodes are impossible";
  const bool is_job = sample.kind == SampleKind::collective || sample.kind == SampleKind::training;
  if (is_job && sample.nodes > sample.gpus)
    return fmt::format("{} nodes for {}", sample.nodes, counted(sample.gpus, "GPU"));
  return "";
}

SampleSheet::SampleSheet(const std::string& file, std::string format) {
  file_.file = printable(file);
  file_.format = std::move(format);
}

bool SampleSheet::count_row() {
  if (file_.rows < static_cast<int>(kMostSamples)) ++file_.rows;
  return file_.rows < static_cast<int>(kMostSamples) && !is_full_;
}

void SampleSheet::add(Sample sample) {
  if (is_full_) return;
  // The reason is noted once, for the first sample beyond the limit.
  if (file_.samples.size() >= kMostSamples) {
    is_full_ = true;
    return skip(sample.line,
                fmt::format("the file holds more than {} samples; this one and all below it are left out",
                            kMostSamples));
  }
  if (std::string why = fault_of(sample); !why.empty()) return skip(sample.line, std::move(why));
  make_printable(sample.what), make_printable(sample.source);
  for (auto& [key, value] : sample.settings) make_printable(key), make_printable(value);
  file_.samples.push_back(std::move(sample));
}

void SampleSheet::skip(int line, std::string why) {
  make_printable(why);
  if (file_.skipped.size() < kMostSkippedLines) {
    file_.skipped.push_back({line, std::move(why)});
    return;
  }
  ++unnamed_;
}

void SampleSheet::state(const std::string& key, std::string value) {
  if (value.empty() || file_.provenance.size() >= kMostFacts || !stated(key).empty()) return;
  value = shortened(value, kLongestFact);
  make_printable(value);
  file_.provenance.emplace_back(key, std::move(value));
}

std::string SampleSheet::stated(const std::string& key) const {
  for (const auto& [name, value] : file_.provenance) {
    if (name == key) return value;
  }
  return "";
}

void SampleSheet::include(SampleFile other) {
  for (auto& [key, value] : other.provenance) state(key, std::move(value));
  for (Sample& sample : other.samples) add(std::move(sample));
  for (SkippedLine& line : other.skipped) skip(line.line, std::move(line.why));
  file_.rows = std::min(file_.rows + other.rows, static_cast<int>(kMostSamples));
}

SampleFile SampleSheet::take() {
  if (unnamed_ > 0) {
    // The last reason is replaced by the number of the others.
    SkippedLine& last = file_.skipped.back();
    last.why = fmt::format("this line and {} more below it were left out too", unnamed_);
  }
  unnamed_ = 0;
  return std::exchange(file_, {});
}

}  // namespace foretrain
