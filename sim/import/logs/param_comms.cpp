// Reader of the communication benchmarks of PARAM: "COMMS-RES-all_reduce-float32 size nElements p50 p75 p95
// min max algbw busbw", in us and GB/s.
// The median p50 is the value. The spread is the standard deviation of the normal distribution that has its
// 95th percentile at p95.
#include <algorithm>
#include <array>

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Beginning of every row.
constexpr std::string_view kMark = "COMMS-RES";
/// The 95th percentile of a normal distribution, in standard deviations.
constexpr double kNormalP95 = 1.6449;

/// Collective and type of elements by the first word of a row.
struct Name {
  std::string op, type;
};

/// Returns the collective in foretrain's words; empty for those that are not modelled.
std::string op_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOps{
      {{"all_reduce", "all_reduce"},
       {"all_gather", "all_gather"},
       {"all_gather_base", "all_gather"},
       {"reduce_scatter", "reduce_scatter"},
       {"reduce_scatter_base", "reduce_scatter"},
       {"broadcast", "broadcast"},
       {"reduce", "reduce"},
       {"all_to_all", "alltoall"},
       {"all_to_all_single", "alltoall"},
       {"all_to_allv", "alltoall"},
       {"gather", "gather"},
       {"scatter", "scatter"}}};
  for (const auto& [name, op] : kOps) {
    if (name == word) return std::string(op);
  }
  return "";
}

/// Reads "COMMS-RES-all_reduce-float32-tag": here all_reduce and float32.
Name named(std::string_view word) {
  word.remove_prefix(std::min(word.size(), kMark.size() + 1));
  const std::size_t dash = std::min(word.find('-'), word.size());
  const std::string_view rest = word.substr(std::min(dash + 1, word.size()));
  return {op_of(word.substr(0, dash)),
          std::string(rest.substr(0, std::min(rest.find('-'), std::size_t{20})))};
}

/// Reads a row: turns it into a sample, or skips it with the reason.
void read_row(const Words& words, int line, const JobSize& job, const SourceText& source,
              SampleSheet& sheet) {
  const Name name = named(words[0]);
  // Tags without figures may stand between the name and the size.
  std::size_t at = 1;
  while (at < words.size() && !integer_of(words[at])) ++at;
  // The columns are checked before any of them is read by its index.
  if (words.size() < at + 9)
    return sheet.skip(line, "fewer figures than size, elements, five latencies and two bandwidths");
  const auto size = integer_of(words[at]);
  const auto p50 = number_of(words[at + 2]), p95 = number_of(words[at + 4]);
  if (!p50 || !p95) return sheet.skip(line, why_no_number(p50 ? words[at + 4] : words[at + 2]));
  if (name.op.empty()) return sheet.skip(line, "its collective is none that is modelled");
  if (job.gpus == 0 || job.nodes == 0)
    return sheet.skip(line, "the log does not say on how many GPUs and nodes it ran; state them");
  if (*size == 0) return sheet.skip(line, "a message of 0 bytes");
  Sample sample;
  sample.kind = SampleKind::collective, sample.what = name.op, sample.gpus = job.gpus,
  sample.nodes = job.nodes, sample.bytes = *size;
  sample.value = *p50, sample.unit = SampleUnit::us, sample.line = line, sample.source = source.name;
  // A p95 below the median is rounding; the spread is then unknown.
  if (*p50 > 0 && *p95 > *p50) sample.spread = (*p95 - *p50) / kNormalP95 / *p50;
  if (!name.type.empty()) sample.settings.emplace_back("type", name.type);
  sheet.add(std::move(sample));
}

}  // namespace

bool is_param_comms(std::string_view text) { return holds(text, kMark); }

void read_param_comms(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  const JobSize job = stated_job_size(source.text, hints);
  LogLine line;
  bool goes_on = true;
  for (LogLines lines(source.text); goes_on && lines.next(line);) {
    const std::size_t begin = line.text.find(kMark);
    if (begin == std::string::npos) continue;
    goes_on = sheet.count_row();
    read_row(words_of(std::string_view(line.text).substr(begin)), line.number, job, source, sheet);
  }
}

}  // namespace foretrain
