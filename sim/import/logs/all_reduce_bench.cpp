// Reader of all_reduce_bench.py, which many guides of PyTorch pass around: "0 data size: 4.0 GB" once for
// each rank, then "duration: 0.0123 sec" and "algo throughput: …".
// It times an all-reduce in place of 32-bit floats. Durations are taken; throughputs follow from them and are
// skipped.
#include <algorithm>
#include <cmath>
#include <set>

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Reads one log. Size, ranks and hosts may stand anywhere above a duration.
class BenchReader {
 public:
  BenchReader(const SourceText& source, const LogHints& hints, SampleSheet& sheet)
      : source_(source), sheet_(sheet), job_(stated_job_size(source.text, hints)) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const std::string_view text = line.text;
      if (holds(text, "data size:")) read_size(text);
      if (holds(text, "NCCL INFO"))
        hosts_.insert(std::string(trimmed(text.substr(0, std::min(text.find(':'), text.size())))));
      if (trimmed(text).starts_with("duration:")) read_duration(text, line.number);
    }
  }

 private:
  /// Reads "0 data size: 4.0 GB", with GB of 10^9 bytes. The highest rank gives the number of ranks.
  void read_size(std::string_view line) {
    const Words before = words_of(line, 1), behind = words_of(text_behind(line, "data size:"), 2);
    const auto size = behind.size() == 2 && behind[1] == "GB" ? number_of(behind[0]) : std::nullopt;
    if (size && *size > 0 && *size < 1e6) bytes_ = std::llround(*size * 1e9);
    if (const auto rank = integer_of(before[0]))
      ranks_ = std::max(ranks_, static_cast<int>(std::clamp<std::int64_t>(*rank, 0, 1'000'000)) + 1);
  }

  /// Turns a duration into a sample, or skips it with what is missing.
  void read_duration(std::string_view line, int number) {
    goes_on_ = sheet_.count_row();
    const Words words = words_of(text_behind(line, "duration:"), 2);
    const auto seconds = words.empty() ? std::nullopt : number_of(words[0]);
    const int gpus = ranks_ > 0 ? ranks_ : job_.gpus;
    const int nodes = hosts_.empty() ? job_.nodes : static_cast<int>(hosts_.size());
    if (!seconds) return sheet_.skip(number, why_no_number(words.empty() ? std::string_view{} : words[0]));
    if (words.size() < 2 || words[1] != "sec") return sheet_.skip(number, "the line ends early");
    // The checks name what is missing, from the line itself to the log.
    if (bytes_ == 0) return sheet_.skip(number, "no line above says the size of the data");
    if (gpus == 0 || nodes == 0)
      return sheet_.skip(number, "the log does not say on how many GPUs and nodes it ran; state them");
    Sample sample;
    sample.kind = SampleKind::collective, sample.what = "all_reduce", sample.gpus = gpus,
    sample.nodes = nodes, sample.bytes = bytes_;
    sample.value = *seconds * 1e6, sample.unit = SampleUnit::us, sample.line = number,
    sample.source = source_.name;
    sample.settings = {{"type", "float"}, {"redop", "sum"}, {"in_place", "1"}};
    sheet_.add(std::move(sample));
  }

  const SourceText& source_;
  SampleSheet& sheet_;
  JobSize job_;
  std::set<std::string> hosts_;
  std::int64_t bytes_ = 0;
  int ranks_ = 0;
  bool goes_on_ = true;
};

}  // namespace

bool is_all_reduce_bench(std::string_view text) {
  return holds(text, "algo throughput:") && holds(text, "duration:");
}

void read_all_reduce_bench(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  BenchReader(source, hints, sheet).read();
}

}  // namespace foretrain
