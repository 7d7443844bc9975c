// Writes a recorded step beside its prediction. Parts that neither side has are left out of the table; JSON
// has all.
//
// The error is predicted / measured - 1 of the step. Differences are predicted minus measured, in
// milliseconds in the table and in seconds in JSON.
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/traces/trace_diff_reports.hpp"
#include "sim/report/traces/trace_reports.hpp"

namespace foretrain {

namespace {

/// Returns both step times, the error, and the largest difference in a sentence.
std::string diff_answer(const TraceDifference& diff) {
  const ComparedAccount& step = diff.accounts.front();
  std::string out = fmt::format("Measured {} a step, predicted {} ({} %)", trace_time(step.measured_s),
                                trace_time(step.predicted_s), signed_percent(diff.error(), 1));
  if (diff.largest.empty()) return out + "; no account differs by more than half a percent of the step.\n";
  const ComparedAccount* most = nullptr;
  for (const ComparedAccount& account : diff.accounts) {
    if (account.key == diff.largest.front().key) most = &account;
  }
  return out + fmt::format("; the largest difference is {}.\n", most->what);
}

/// Returns the sizes of buckets in MiB, at most twelve.
std::string bucket_text(const std::vector<std::int64_t>& buckets) {
  std::string out;
  for (std::size_t i = 0; i < buckets.size() && i < 12; ++i)
    out += fmt::format(" {}", decimal(static_cast<double>(buckets[i]) / (1 << 20), 2));
  return out + (buckets.size() > 12 ? fmt::format(" and {} more", buckets.size() - 12) : "");
}

/// Returns the table of parts: measured and predicted time, and their difference.
std::string diff_rows(const TraceDifference& diff) {
  std::string out = fmt::format("\n{:<36} {:>10} {:>10} {:>12}\n", "", "measured", "predicted", "difference");
  for (const ComparedAccount& row : diff.accounts) {
    if (row.measured_s < 1e-9 && row.predicted_s < 1e-9) continue;
    out += fmt::format("  {:<34} {:>10} {:>10} {:>9} ms\n", row.what, trace_time(row.measured_s),
                       trace_time(row.predicted_s), signed_decimal(1e3 * row.difference_s(), 2));
  }
  return out;
}

}  // namespace

// The answer comes first, and then the evidence for it.
std::string write_trace_diff_table(const TraceDifference& diff) {
  std::string out = diff_answer(diff);
  out +=
      fmt::format("{} with {} on {} of {}, batch {} a GPU\n", printable(diff.model), printable(diff.strategy),
                  counted(diff.gpus, "GPU"), printable(diff.cluster), diff.batch_per_gpu);
  // A profiler slows the host down, so the prediction may use the host as it was recorded.
  if (diff.recording_slowdown > 0)
    out += fmt::format(
        "with the host that recorded, profiler included: its calls take {} times the reference CPU's\n",
        decimal(diff.recording_slowdown, 1));
  out += diff_rows(diff);
  if (!diff.largest.empty()) out += "\nThe largest differences\n";
  for (std::size_t i = 0; i < diff.largest.size(); ++i)
    out += fmt::format("  {}. {}\n", i + 1, diff.largest[i].text);
  // Different buckets are a reason for different overlap, so they are shown.
  if (diff.measured_buckets != diff.predicted_buckets && !diff.measured_buckets.empty())
    out += fmt::format("\nBuckets differ: measured{} MiB, predicted{} MiB\n",
                       bucket_text(diff.measured_buckets), bucket_text(diff.predicted_buckets));
  else if (!diff.measured_buckets.empty())
    out += fmt::format("\nThe buckets are the same:{} MiB\n", bucket_text(diff.measured_buckets));
  for (const std::string& note : diff.notes) out += "note: " + printable(note) + "\n";
  return out;
}

// JSON has all parts of the step, and the largest differences with a sentence each.
std::string write_trace_diff_json(const TraceDifference& diff) {
  Json accounts = Json::array(), largest = Json::array();
  for (const ComparedAccount& row : diff.accounts)
    accounts.push_back({{"account", row.key},
                        {"measured_s", row.measured_s},
                        {"predicted_s", row.predicted_s},
                        {"difference_s", row.difference_s()}});
  for (const NamedDifference& row : diff.largest)
    largest.push_back({{"account", row.key}, {"difference_s", row.seconds}, {"text", row.text}});
  return json_text(
      {{"schema", "foretrain.trace_difference/1"},
       {"file", diff.file},
       {"model", diff.model},
       {"cluster", diff.cluster},
       {"strategy", diff.strategy},
       {"gpus", diff.gpus},
       {"batch_per_gpu", diff.batch_per_gpu},
       {"error", diff.error()},
       {"recording_slowdown", diff.recording_slowdown > 0 ? Json(diff.recording_slowdown) : Json(nullptr)},
       {"accounts", accounts},
       {"largest", largest},
       {"measured_buckets_bytes", diff.measured_buckets},
       {"predicted_buckets_bytes", diff.predicted_buckets},
       {"notes", diff.notes}});
}

}  // namespace foretrain
