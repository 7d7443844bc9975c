// Reader of nvidia-smi topo -m in all its versions:
// "GPU0  X  NV12  SYS  PXB  0-23,48-71  0".
// Columns are separated by tabs, blanks or bars, adapters are called NIC0 or mlx5_0, and SOC is an old word
// for SYS. Colours, prompts and legends may surround the matrix.
// A row is read by its words, so headers that are glued together or lost do no harm. Paths, NVLinks,
// affinities and NUMA nodes are taken.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/matrix_tree.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Limit of devices, which are the rows.
constexpr std::size_t kMostDevices = 128;

/// Reads a cell: "X" is the device itself, "NV12" stands for twelve NVLinks; no value for any other word.
std::optional<MatrixCell> cell_of(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, PciPathKind>, 7> kWays{
      {{"X", PciPathKind::self},
       {"PIX", PciPathKind::one_switch},
       {"PXB", PciPathKind::switches},
       {"PHB", PciPathKind::host_bridge},
       {"NODE", PciPathKind::numa_node},
       {"SYS", PciPathKind::sockets},
       {"SOC", PciPathKind::sockets}}};
  for (const auto& [name, way] : kWays) {
    if (word == name) return MatrixCell{way, 0};
  }
  if (!word.starts_with("NV")) return std::nullopt;
  const auto count = integer_of(word.substr(2));
  return count && *count > 0 && *count <= 64
             ? std::optional(MatrixCell{PciPathKind::unsaid, static_cast<int>(*count)})
             : std::nullopt;
}

/// Says whether a word is "GPU" with a number.
bool is_gpu_name(std::string_view word) {
  return word.starts_with("GPU") && integer_of(word.substr(3)).has_value();
}

/// Says whether a word can be the name of a row, such as GPU3, NIC0, mlx5_2, rocep4s0f0 or bnxt_re0: it
/// begins with a letter and ends with a digit.
bool is_device_name(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0 && !cell_of(word) &&
         std::isdigit(static_cast<unsigned char>(word.back())) != 0;
}

/// A row of the matrix as it stands in the text.
struct MatrixRow {
  int line = 0;
  std::string name;
  std::vector<MatrixCell> cells;
  /// Words behind the cells: affinities and NUMA node.
  std::vector<std::string> behind;
};

/// Replaces the bars of Markdown by blanks.
std::string without_bars(std::string text) {
  std::ranges::replace(text, '|', ' ');
  return text;
}

/// Reads a row: a name, then cells. Columns before the name (Markdown with affinities first) are put behind.
/// No value for other lines.
std::optional<MatrixRow> row_of(const LogLine& line) {
  const std::string text = without_bars(line.text);
  const Words words = words_of(text, kMostDevices + 16);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!is_device_name(words[i]) || !cell_of(words[i + 1])) continue;
    MatrixRow row{line.number, std::string(words[i]), {}, {}};
    std::size_t at = i + 1;
    for (; at < words.size(); ++at) {
      const auto cell = cell_of(words[at]);
      if (!cell) break;
      row.cells.push_back(*cell);
    }
    for (; at < words.size(); ++at) row.behind.emplace_back(words[at]);
    for (std::size_t before = 0; before < i; ++before) row.behind.emplace_back(words[before]);
    return row;
  }
  return std::nullopt;
}

/// Takes a line of the legend, such as "NIC3: mlx5_3".
void take_adapter_name(const LogLine& line, std::map<std::string, std::string>& names) {
  const Words words = words_of(line.text, 3);
  if (words.size() == 2 && words[0].starts_with("NIC") && words[0].ends_with(":") &&
      names.size() < kMostDevices)
    names[std::string(words[0].substr(0, words[0].size() - 1))] = std::string(words[1]);
}

/// Reads a range of hardware threads such as "0-19,40-59": the number of threads and of ranges; no value for
/// another word.
std::optional<std::pair<int, int>> threads_of(std::string_view word) {
  int threads = 0, ranges = 0;
  if (word.find('-') == std::string_view::npos) return std::nullopt;
  while (!word.empty()) {
    const std::string_view part = word.substr(0, word.find(','));
    word.remove_prefix(std::min(word.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto first = integer_of(part.substr(0, dash)), last = integer_of(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 100'000) return std::nullopt;
    threads += static_cast<int>(*last - *first + 1), ++ranges;
  }
  return std::pair{threads, ranges};
}

/// Reads one matrix. Only the first one of a longer log counts.
class TopologyMatrix {
 public:
  TopologyMatrix(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  Machine read() {
    collect_rows();
    Machine machine;
    machine.place = {source_.name, rows_.empty() ? 1 : rows_.front().line};
    sort_rows();
    check_rows();
    if (!diagnostics_.empty()) return machine;
    machine.parts = parts_of_matrix(devices(), cells());
    read_nvlinks(machine);
    read_cores(machine);
    return machine;
  }

 private:
  /// Collects the rows until a name comes again, which begins the next matrix of the log.
  void collect_rows() {
    LogLines lines(source_.text);
    for (LogLine line; lines.next(line);) {
      take_adapter_name(line, adapter_names_);
      auto row = row_of(line);
      if (!row) continue;
      const bool is_again =
          std::ranges::any_of(rows_, [&](const MatrixRow& other) { return other.name == row->name; });
      if (is_again) return;  // the next matrix of a longer log
      if (rows_.size() >= kMostDevices)
        return diagnostics_.report({line.number, 1, 1}, fmt::format("more than {} devices", kMostDevices));
      rows_.push_back(std::move(*row));
    }
  }

  /// Puts the rows of GPUs first, since GPUs stand first among the columns, whatever the rows do.
  void sort_rows() {
    std::stable_partition(rows_.begin(), rows_.end(),
                          [](const MatrixRow& row) { return is_gpu_name(row.name); });
    gpus_ = static_cast<std::size_t>(
        std::ranges::count_if(rows_, [](const MatrixRow& row) { return is_gpu_name(row.name); }));
  }

  /// Reports rows that were cut. Rows may lack the columns of adapters, and adapters their rows, but GPUs
  /// need each other's.
  void check_rows() {
    if (gpus_ == 0)
      return diagnostics_.report({rows_.empty() ? 1 : rows_.front().line, 1, 1}, "no row of a GPU");
    for (std::size_t i = 0; i < gpus_; ++i) {
      const MatrixRow& row = rows_[i];
      if (row.cells.size() < gpus_)
        diagnostics_.report({row.line, 1, 3},
                            fmt::format("{} of {} has {} of {}", row.name, counted(gpus_, "GPU"),
                                        counted(row.cells.size(), "column"), gpus_),
                            "a row was cut, or lines of the matrix are missing");
      else if (row.cells[i].way != PciPathKind::self)
        diagnostics_.report({row.line, 1, 3}, fmt::format("column {} of {} is not X", i + 1, row.name),
                            "columns and rows of GPUs stand in one order");
    }
  }

  /// Returns the devices for parts_of_matrix(); adapters have the names of the legend.
  std::vector<MatrixDevice> devices() const {
    std::vector<MatrixDevice> out;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const MatrixRow& row = rows_[i];
      const auto named = adapter_names_.find(row.name);
      out.push_back({i < gpus_ ? PartKind::gpu : PartKind::adapter,
                     i < gpus_                       ? ""
                     : named == adapter_names_.end() ? row.name
                                                     : named->second,
                     numa_of(row)});
    }
    return out;
  }

  /// Returns the NUMA node, which is the word behind the range of threads; -1 when it is not shown.
  static int numa_of(const MatrixRow& row) {
    for (std::size_t i = 0; i + 1 < row.behind.size(); ++i) {
      if (threads_of(row.behind[i])) return static_cast<int>(integer_of(row.behind[i + 1]).value_or(-1));
    }
    return -1;
  }

  /// Returns the square matrix. A pair is taken from whichever row has it, since rows of GPUs may lack the
  /// columns of adapters and the other way round.
  MatrixCells cells() const {
    MatrixCells out(rows_.size(), std::vector<MatrixCell>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (std::size_t j = 0; j < std::min(rows_[i].cells.size(), rows_.size()); ++j) {
        const MatrixCell cell = rows_[i].cells[j];
        if (i == j || cell.way == PciPathKind::self) continue;
        out[i][j] = cell;
        if (out[j][i] == MatrixCell{}) out[j][i] = cell;
      }
    }
    return out;
  }

  /// Adds the NVLinks between GPUs. Where they go through NVSwitches, the matrix shows the same count for
  /// every pair.
  void read_nvlinks(Machine& machine) const {
    for (std::size_t i = 0; i < gpus_; ++i) {
      for (std::size_t j = i + 1; j < gpus_; ++j) {
        if (const int count = rows_[i].cells[j].nvlinks; count > 0)
          machine.nvlinks.push_back({static_cast<int>(i), static_cast<int>(j), count});
      }
    }
    machine.tells_nvlinks = !machine.nvlinks.empty() || !hides_nvlinks();
    join_through_switches(machine.nvlinks, static_cast<int>(gpus_));
  }

  /// Says whether the matrix hides NVLinks: -mp shows PCIe alone, and its legend has no line for NVLinks.
  bool hides_nvlinks() const {
    return holds(source_.text, "topo -mp") || (holds(source_.text, "Legend") && !holds(source_.text, "NV#"));
  }

  /// Counts cores over the distinct affinities. Two ranges in one affinity are the two threads of each core.
  void read_cores(Machine& machine) const {
    machine.affinity_cores = true;
    std::map<std::string, std::pair<int, int>> ranges;
    for (std::size_t i = 0; i < gpus_; ++i) {
      for (const std::string& word : rows_[i].behind) {
        if (const auto threads = threads_of(word)) ranges[word] = *threads;
      }
    }
    for (const auto& [word, threads] : ranges)
      machine.cores += threads.second == 2 ? threads.first / 2 : threads.first;
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::vector<MatrixRow> rows_;
  std::size_t gpus_ = 0;
  std::map<std::string, std::string> adapter_names_;
};

}  // namespace

bool is_topology_matrix(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const auto row = row_of(line);
    if (row && is_gpu_name(row->name)) return true;
  }
  return false;
}

Machine read_topology_matrix(const SourceText& source, Diagnostics& diagnostics) {
  return TopologyMatrix(source, diagnostics).read();
}

}  // namespace foretrain
