// Reader of the OSU micro-benchmarks: "# OSU MPI-CUDA Allreduce Latency Test v5.9", "# Size       Avg
// Latency(us)", then one line of size and figure for each size.
// MB/s are of 10^6 bytes. All-gather, gather, scatter and all-to-all print the size of one rank's part, while
// nccl-tests counts that size times the ranks; samples count as nccl-tests does.
// Tests between two processes become samples of the network, collectives become samples of a collective over
// MPI.
#include <algorithm>
#include <array>

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// A collective by the word in its title.
struct Op {
  std::string_view word, op;
  /// True when the printed size is what one rank sends to one other.
  bool counts_part = false;
};

/// Collectives by words of the title in lower case without "-", "_" and blanks. Longer words stand first,
/// because they contain shorter ones.
constexpr std::array<Op, 9> kOsuOps{{{"allreduce", "all_reduce", false},
                                     {"allgather", "all_gather", true},
                                     {"reducescatter", "reduce_scatter", false},
                                     {"alltoall", "alltoall", true},
                                     {"broadcast", "broadcast", false},
                                     {"bcast", "broadcast", false},
                                     {"reduce", "reduce", false},
                                     {"gather", "gather", true},
                                     {"scatter", "scatter", true}}};

/// The test whose rows are being read.
struct OsuTest {
  /// The collective; null for a test between two processes.
  const Op* op = nullptr;
  /// Operation of a test between two processes: "send", "put" or "get".
  std::string verb = "send";
  /// Flags: both directions at once, latencies instead of bandwidths, buffers on the GPU, inside of a table,
  /// a test that is modelled.
  bool both_ways = false, is_latency = false, on_device = false, is_open = false, is_known = false;
};

/// Says whether a line is the title of a test.
bool is_title(std::string_view line) {
  return line.starts_with("#") && holds(line, "OSU") && holds(line, "Test");
}

/// Reads the title of a test.
OsuTest titled_osu_test(std::string_view line) {
  OsuTest test;
  std::string name;
  for (const char c : lower_case(line.substr(0, 200))) {
    if (c != ' ' && c != '-' && c != '_') name += c;
  }
  test.is_known = !holds(name, "barrier") && !holds(name, "multiplebandwidth") &&
                  !holds(name, "accumulate") && !holds(name, "fetch");
  test.on_device = holds(name, "cuda") || holds(name, "rocm");
  test.both_ways = holds(name, "bidirectional");
  if (holds(name, "mpiput") || holds(name, "put")) test.verb = "put";
  if (holds(name, "mpiget") || holds(name, "getlatency") || holds(name, "getbandwidth")) test.verb = "get";
  const auto op = std::find_if(kOsuOps.begin(), kOsuOps.end(),
                               [&](const Op& candidate) { return holds(name, candidate.word); });
  if (op != kOsuOps.end()) test.op = &*op;
  return test;
}

/// Reads one log, which may hold several tests.
class OsuReader {
 public:
  OsuReader(const SourceText& source, const LogHints& hints, SampleSheet& sheet)
      : source_(source), sheet_(sheet), job_(stated_job_size(source.text, hints)) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const std::string_view text = trimmed(line.text);
      const Words words = words_of(text);
      if (is_title(text)) {
        test_ = titled_osu_test(text);
        sheet_.state("osu", std::string(text.substr(1, 80)));
      } else if (text.starts_with('#') && holds(text, "Size")) {
        test_.is_open = holds(text, "MB/s") || holds(text, "(us)");
        test_.is_latency = holds(text, "(us)");
      } else if (text.starts_with("--")) {
        test_.is_open = false;
      } else if (test_.is_open && !words.empty() && integer_of(words[0])) {
        read_row(words, line.number);
      }
    }
  }

 private:
  /// Reads a row: size and figure; further columns (minimum, maximum) are ignored.
  void read_row(const Words& words, int line) {
    goes_on_ = sheet_.count_row();
    if (words.size() < 2) return sheet_.skip(line, "the line ends early");
    const auto value = number_of(words[1]);
    if (!value) return sheet_.skip(line, why_no_number(words[1]));
    if (!test_.is_known) return sheet_.skip(line, "this test of OSU's is not modelled");
    const std::int64_t size = *integer_of(words[0]);
    if (size < 0 || size > kLargestSampleBytes / std::max(1, job_.gpus))
      return sheet_.skip(line, "its size is impossible");
    // The rest of the tests run between two processes.
    if (test_.op != nullptr) return add_collective(size, *value, line);
    Sample sample = begin_sample(line);
    sample.kind = SampleKind::network, sample.bytes = size;
    sample.what = test_.is_latency ? "latency" : test_.verb;
    // The two processes are taken to be on two nodes, unless the log says that there is one.
    sample.nodes = sample.gpus = job_.nodes == 1 ? 1 : 2;
    sample.value = test_.is_latency ? *value : *value / 1000;
    sample.unit = test_.is_latency ? SampleUnit::us : SampleUnit::gigabytes_per_s;
    if (test_.is_latency) sample.settings.emplace_back("verb", test_.verb);
    if (test_.both_ways) sample.settings.emplace_back("both_ways", "1");
    if (test_.on_device) sample.settings.emplace_back("memory", "device");
    sheet_.add(std::move(sample));
  }

  /// Adds a sample of a collective; the size is scaled to what nccl-tests counts.
  void add_collective(std::int64_t size, double value, int line) {
    if (job_.gpus == 0 || job_.nodes == 0)
      return sheet_.skip(line, "the log does not say on how many ranks and nodes it ran; state them");
    if (size == 0) return sheet_.skip(line, "a message of 0 bytes");
    Sample sample = begin_sample(line);
    sample.kind = SampleKind::collective, sample.what = test_.op->op, sample.gpus = job_.gpus,
    sample.nodes = job_.nodes;
    sample.bytes = test_.op->counts_part ? size * job_.gpus : size;
    sample.value = value, sample.unit = SampleUnit::us;
    sample.settings.emplace_back("library", "mpi");
    sample.settings.emplace_back("memory", test_.on_device ? "device" : "host");
    sheet_.add(std::move(sample));
  }

  /// Returns a sample with its place.
  Sample begin_sample(int line) const {
    Sample sample;
    sample.line = line, sample.source = source_.name;
    return sample;
  }

  const SourceText& source_;
  SampleSheet& sheet_;
  JobSize job_;
  OsuTest test_;
  bool goes_on_ = true;
};

}  // namespace

bool is_osu(std::string_view text) {
  const std::size_t title = text.find("# OSU ");
  return title != std::string_view::npos && holds(text.substr(title), "Size");
}

void read_osu(const SourceText& source, const LogHints& hints, SampleSheet& sheet) {
  OsuReader(source, hints, sheet).read();
}

}  // namespace foretrain
