// Reader of rocm-smi --showtopo: matrices of weights, hops and link types between GPUs, each below its
// heading, and the NUMA node of each GPU:
// "==== Link Type between two GPUs ====", then "GPU0   0   XGMI   PCIE".
// Directly linked pairs are taken. How many links two GPUs share is in none of the matrices;
// settle_amd_links() fills it in.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Limit of GPUs.
constexpr std::size_t kMostRocmGpus = 128;

/// The matrices that matter; `none` is any other part of the output.
enum class RocmTable : std::uint8_t { none, weights, hops, types, access };

/// Returns the matrix that a heading between equal signs announces.
RocmTable rocm_table_of(std::string_view line) {
  if (!holds(line, "==")) return RocmTable::none;
  if (holds(line, "Weight between")) return RocmTable::weights;
  if (holds(line, "Hops between")) return RocmTable::hops;
  if (holds(line, "Link Type between")) return RocmTable::types;
  return holds(line, "accessib") || holds(line, "Access between") ? RocmTable::access : RocmTable::none;
}

/// Returns the number of "GPU3" or "GPU[3]"; no value for other words.
std::optional<int> rocm_gpu_of(std::string_view word) {
  if (!word.starts_with("GPU")) return std::nullopt;
  word.remove_prefix(3);
  if (word.starts_with("[")) word = word.substr(1, word.find(']') - 1);
  const auto number = integer_of(word);
  return number && *number >= 0 && *number < 100'000 ? std::optional(static_cast<int>(*number))
                                                     : std::nullopt;
}

/// A row of a matrix with its line.
struct RocmRow {
  int line = 0;
  std::vector<std::string> cells;
};
using RocmRows = std::map<int, RocmRow>;

/// Reads the whole output. The matrices are checked against each other before they are used.
class RocmTopology {
 public:
  RocmTopology(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  Machine read() {
    LogLines lines(source_.text);
    for (LogLine line; lines.next(line);) take(line);
    Machine machine;
    const int first = rows().empty() ? 1 : rows().begin()->second.line;
    machine.place = {source_.name, first};
    if (rows().empty()) diagnostics_.report({1, 1, 1}, "no matrix of weights, hops or link types in it");
    check_rows(types_);
    check_rows(hops_);
    check_rows(weights_);
    // Cells are read by index from here on, which is safe only for whole rows.
    if (!diagnostics_.empty()) return machine;
    place_gpus(machine);
    join_gpus(machine);
    machine.gpu_product = product_;
    return machine;
  }

 private:
  /// Takes a line: a heading, a fact of a GPU, or a row of the current matrix.
  void take(const LogLine& line) {
    if (holds(line.text, "==")) open_ = rocm_table_of(line.text);
    const Words words = words_of(line.text, kMostRocmGpus + 2);
    if (words.empty()) return;
    const auto gpu = rocm_gpu_of(words[0]);
    if (!gpu) return;
    if (words[0].starts_with("GPU[")) return take_fact(line.text, *gpu);
    if (words.size() > 1 && !rocm_gpu_of(words[1])) take_row(line.number, *gpu, words);
  }

  /// Adds a row to the current matrix. A repeated row is skipped, as some commands print a matrix twice.
  void take_row(int line, int gpu, const Words& words) {
    RocmRows* rows = open_ == RocmTable::weights ? &weights_
                     : open_ == RocmTable::hops  ? &hops_
                     : open_ == RocmTable::types ? &types_
                                                 : nullptr;
    if (open_ == RocmTable::access) take_access(words);
    if (rows == nullptr || rows->contains(gpu)) return;
    if (rows->size() >= kMostRocmGpus)
      return diagnostics_.report({line, 1, 1}, fmt::format("more than {} GPUs", kMostRocmGpus));
    RocmRow& row = (*rows)[gpu];
    row.line = line;
    for (std::size_t i = 1; i < words.size(); ++i) row.cells.emplace_back(words[i]);
  }

  /// Takes a row of the matrix of access: a single "False" means that not every GPU reaches every other.
  void take_access(const Words& words) {
    if (!access_) access_ = true;
    if (std::ranges::find(words, "False") != words.end()) access_ = false;
  }

  /// Takes "GPU[1] : (Topology) Numa Node: 3" or "GPU[0] : Card Series: AMD Instinct MI250X".
  void take_fact(std::string_view line, int gpu) {
    if (const auto numa = integer_behind(line, "Numa Node:"); numa && numa_of_.size() < kMostRocmGpus)
      numa_of_[gpu] = std::clamp(static_cast<int>(*numa), -1, 1000);
    for (const std::string_view mark : {"Card Series:", "Card series:", "Card Model:", "Card model:"}) {
      const std::string_view name = text_behind(line, mark);
      if (product_.empty() && !name.empty() && !name.starts_with("0x") && name != "N/A")
        product_ = std::string(name.substr(0, 200));
    }
  }

  /// Returns a matrix that the file has; its rows give the number of GPUs.
  const RocmRows& rows() const { return !types_.empty() ? types_ : !hops_.empty() ? hops_ : weights_; }

  /// Reports missing rows, rows that were cut, and matrices of different sizes.
  void check_rows(const RocmRows& rows) {
    int expected = 0;
    for (const auto& [gpu, row] : rows) {
      if (gpu != expected++)
        diagnostics_.report({row.line, 1, 4}, fmt::format("GPU{} where GPU{} is due", gpu, expected - 1),
                            "rows stand from GPU0 on without a gap");
      if (row.cells.size() != rows.size())
        diagnostics_.report({row.line, 1, 4},
                            fmt::format("GPU{} of {} has {}", gpu, counted(rows.size(), "GPU"),
                                        counted(row.cells.size(), "column")),
                            "a row was cut, or lines of the matrix are missing");
    }
    if (!rows.empty() && rows.size() != this->rows().size())
      diagnostics_.report({rows.begin()->second.line, 1, 4},
                          fmt::format("{} here, {} in line {}", counted(rows.size(), "GPU"),
                                      this->rows().size(), this->rows().begin()->second.line),
                          "the matrices are of one machine");
  }

  /// Adds a socket for every NUMA node that has a GPU, and the GPUs.
  void place_gpus(Machine& machine) const {
    std::map<int, int> socket_of;
    const int count = static_cast<int>(rows().size());
    const auto numa = [this](int gpu) {
      const auto found = numa_of_.find(gpu);
      return found == numa_of_.end() ? 0 : found->second;
    };
    for (int gpu = 0; gpu < count; ++gpu) {
      if (!socket_of.emplace(numa(gpu), static_cast<int>(machine.parts.size())).second) continue;
      machine.parts.push_back({PartKind::socket, -1});
    }
    for (int gpu = 0; gpu < count; ++gpu) {
      machine.parts.push_back({PartKind::gpu, socket_of.at(numa(gpu))});
      // The maker is known and the device is not; gpu_of_node() looks at the links instead.
      machine.parts.back().pci_device = "1002:";
    }
    machine.family = HostFamily::amd;
    machine.peer_access = access_;
  }

  /// Returns a cell; empty when the matrix lacks the row. Rows were checked to have all columns.
  std::string_view cell(const RocmRows& rows, int a, int b) const {
    const auto row = rows.find(a);
    return row == rows.end() ? std::string_view()
                             : std::string_view(row->second.cells[static_cast<std::size_t>(b)]);
  }

  /// Says whether two GPUs are joined by Infinity Fabric, directly or over other GPUs.
  bool is_linked(int a, int b) const {
    const std::string type = lower_case(cell(types_, a, b));
    return types_.empty() ? false : type == "xgmi";
  }

  /// Says whether two GPUs have a link of their own: one hop, or where hops do not differ, the least weight.
  bool is_direct(int a, int b) const {
    if (!is_linked(a, b)) return false;
    const auto weight = integer_of(cell(weights_, a, b));
    // The route over another GPU has a higher weight than a link of its own.
    if (weight && least_weight_ > 0 && *weight > least_weight_) return false;
    const auto hops = integer_of(cell(hops_, a, b));
    return !hops || *hops <= std::max<std::int64_t>(least_hops_, 1);
  }

  /// Finds the least weight and the least hops of any linked pair.
  void find_least() {
    const int count = static_cast<int>(rows().size());
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        if (a == b || !is_linked(a, b)) continue;
        const std::int64_t weight = integer_of(cell(weights_, a, b)).value_or(0),
                           hops = integer_of(cell(hops_, a, b)).value_or(0);
        if (weight > 0 && (least_weight_ == 0 || weight < least_weight_)) least_weight_ = weight;
        if (hops > 0 && (least_hops_ == 0 || hops < least_hops_)) least_hops_ = hops;
      }
    }
  }

  /// Adds the direct links; a count of 0 means that their number is unknown.
  void join_gpus(Machine& machine) {
    if (types_.empty()) return;
    find_least();
    machine.tells_nvlinks = true;
    const int count = static_cast<int>(rows().size());
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        if (is_direct(a, b) || is_direct(b, a)) machine.nvlinks.push_back({a, b, 0});
      }
    }
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  RocmTable open_ = RocmTable::none;
  RocmRows weights_, hops_, types_;
  std::map<int, int> numa_of_;
  std::optional<bool> access_;
  std::string product_;
  std::int64_t least_weight_ = 0, least_hops_ = 0;
};

}  // namespace

bool is_rocm_topology(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const RocmTable table = rocm_table_of(line.text);
    if (table == RocmTable::weights || table == RocmTable::hops || table == RocmTable::types) return true;
  }
  return false;
}

Machine read_rocm_topology(const SourceText& source, Diagnostics& diagnostics) {
  return RocmTopology(source, diagnostics).read();
}

}  // namespace foretrain
