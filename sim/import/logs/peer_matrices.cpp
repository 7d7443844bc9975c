// Reader of p2pBandwidthLatencyTest of the CUDA samples: a title with its unit such as "Unidirectional
// P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", "   D\D     0      1", then a row for each GPU.
// The diagonal is a copy inside of one GPU. Latencies are printed twice, as the GPU and as the CPU measured
// them.
// Cells become samples; the matrix of connectivity only marks pairs without peer access.
#include <algorithm>
#include <set>
#include <utility>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/readers.hpp"

namespace foretrain {

namespace {

/// Limit of columns.
constexpr std::size_t kWidestPeerMatrix = 2000;

/// The matrices of the program.
enum class MatrixKind { none, connectivity, bandwidth, latency };

/// The matrix that is being read.
struct Matrix {
  MatrixKind kind = MatrixKind::none;
  /// Flags: both directions at once, with peer access, latencies measured by the CPU.
  bool both_ways = false, peer = false, by_cpu = false;
  /// Number of columns; 0 until their line was read.
  std::size_t columns = 0;
};

/// Says whether a line holds the numbers of the columns: "D\D 0 1 2", "GPU 0 1 2" or "CPU 0 1 2".
bool is_column_line(const Words& words) {
  if (words.size() < 2 || (words[0] != "D\\D" && words[0] != "GPU" && words[0] != "CPU")) return false;
  return std::all_of(words.begin() + 1, words.end(),
                     [](std::string_view word) { return integer_of(word).has_value(); });
}

/// Reads the title of a matrix; `kind` is `none` for other lines.
Matrix titled_matrix(std::string_view line) {
  Matrix matrix;
  matrix.both_ways = holds(line, "Bidirectional"), matrix.peer = holds(line, "P2P=Enabled");
  if (holds(line, "P2P Connectivity Matrix")) matrix.kind = MatrixKind::connectivity;
  if (holds(line, "Bandwidth") && holds(line, "Matrix (GB/s)")) matrix.kind = MatrixKind::bandwidth;
  if (holds(line, "Latency") && holds(line, "Matrix (us)")) matrix.kind = MatrixKind::latency;
  return matrix;
}

/// Reads one log. Connectivity comes first, so that unreachable pairs are known when bandwidths follow.
class PeerReader {
 public:
  PeerReader(const SourceText& source, SampleSheet& sheet) : source_(source), sheet_(sheet) {}

  void read() {
    LogLine line;
    for (LogLines lines(source_.text); lines.next(line) && goes_on_;) {
      const Matrix next = titled_matrix(line.text);
      const Words words = words_of(line.text, kWidestPeerMatrix);
      if (next.kind != MatrixKind::none) {
        matrix_ = next;
      } else if (matrix_.kind != MatrixKind::none && is_column_line(words)) {
        matrix_.columns = words.size() - 1, matrix_.by_cpu = words[0] == "CPU";
      } else if (matrix_.columns > 0 && !words.empty() && integer_of(words[0])) {
        read_row(words, line.number);
      } else if (!words.empty()) {
        matrix_ = {};
        read_text(line.text);
      }
    }
  }

 private:
  /// Reads a row of a matrix.
  void read_row(const Words& words, int line) {
    const int row = static_cast<int>(std::clamp<std::int64_t>(*integer_of(words[0]), 0, 1'000'000));
    if (matrix_.kind == MatrixKind::connectivity) {
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i] == "0") unreachable_.emplace(row, static_cast<int>(i) - 1);
      }
      return;
    }
    goes_on_ = sheet_.count_row();
    for (std::size_t i = 1; i < words.size() && i <= matrix_.columns; ++i)
      add(row, static_cast<int>(i) - 1, words[i], line);
    if (words.size() <= matrix_.columns) sheet_.skip(line, "the line ends early");
  }

  /// Turns a cell into a sample. Latencies of the CPU are times of the host's call, not of the copy.
  void add(int row, int column, std::string_view word, int line) {
    const auto value = number_of(word);
    if (word == "N/A") return;
    if (!value) return sheet_.skip(line, why_no_number(word));
    Sample sample;
    const bool is_same = row == column, is_time = matrix_.kind == MatrixKind::latency;
    sample.kind = is_time && matrix_.by_cpu ? SampleKind::host : SampleKind::copy;
    sample.what = sample.kind == SampleKind::host ? "copy_call" : is_same ? "d2d" : "p2p";
    sample.gpus = is_same ? 1 : 2;
    sample.value = *value, sample.unit = is_time ? SampleUnit::us : SampleUnit::gigabytes_per_s;
    sample.settings = {{"src", std::to_string(row)}};
    if (!is_same) sample.settings.emplace_back("dst", std::to_string(column));
    if (matrix_.both_ways) sample.settings.emplace_back("both_ways", "1");
    if (!is_same && (!matrix_.peer || unreachable_.contains({row, column})))
      sample.settings.emplace_back("peer", "0");
    sample.source = source_.name, sample.line = line;
    sheet_.add(std::move(sample));
  }

  /// Reads facts: "Device: 0, NVIDIA A100, pciBusID: 26" or "Device=0 CANNOT Access Peer Device=1".
  void read_text(std::string_view line) {
    if (const std::string_view device = text_behind(line, "Device: 0, "); !device.empty())
      sheet_.state("gpu", std::string(trimmed(device.substr(0, device.find(',')))));
    if (!holds(line, "CANNOT Access Peer")) return;
    const auto from = integer_behind(line, "Device="), to = integer_behind(line, "Peer Device=");
    const bool are_devices = from && to && *from >= 0 && *to >= 0 && *from < 10'000 && *to < 10'000;
    if (are_devices) unreachable_.emplace(static_cast<int>(*from), static_cast<int>(*to));
  }

  const SourceText& source_;
  SampleSheet& sheet_;
  Matrix matrix_;
  /// Pairs of GPUs without peer access.
  std::set<std::pair<int, int>> unreachable_;
  bool goes_on_ = true;
};

}  // namespace

bool is_peer_matrices(std::string_view text) {
  return holds(text, "P2P=") && (holds(text, "Bandwidth Matrix (GB/s)") || holds(text, "Matrix (us)") ||
                                 holds(text, "(P2P Writes) Matrix"));
}

void read_peer_matrices(const SourceText& source, const LogHints&, SampleSheet& sheet) {
  PeerReader(source, sheet).read();
}

}  // namespace foretrain
