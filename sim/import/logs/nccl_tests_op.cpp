// Finds the collective that a table of nccl-tests is about. The columns leave one to three; names, bandwidth
// ratios and counts choose among them.
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nccl_tests_table.hpp"

namespace foretrain {

namespace {

/// Collectives of nccl-tests, which are also the beginnings of its programs: all_reduce_perf.
constexpr std::array<std::string_view, 9> kNcclOps{"all_reduce", "all_gather", "reduce_scatter",
                                                   "broadcast",  "reduce",     "alltoall",
                                                   "sendrecv",   "gather",     "scatter"};
/// Words of prose that can mean nothing else, written without "_", "-" and blanks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords{
    {{"allreduce", "all_reduce"},
     {"allgather", "all_gather"},
     {"reducescatter", "reduce_scatter"},
     {"alltoall", "alltoall"},
     {"sendrecv", "sendrecv"},
     {"broadcast", "broadcast"}}};
/// Limit of a line of prose that is searched, in bytes.
constexpr std::size_t kLongestProse = 4000;

/// Returns the collectives that print these columns: only some have a reduction, and only some a root.
std::vector<std::string> allowed_by_columns(const NcclRow& row) {
  if (row.root >= 0 && row.redop.empty()) return {"broadcast", "scatter", "gather"};
  if (row.root >= 0) return {"reduce"};
  if (row.redop.empty()) return {"all_gather", "alltoall", "sendrecv"};
  return {"all_reduce", "reduce_scatter", "sendrecv"};
}

/// Returns busbw / algbw of a collective, as nccl-tests defines it.
double bus_factor(std::string_view op, int ranks) {
  const double n = ranks;
  if (op == "all_reduce") return 2 * (n - 1) / n;
  if (op == "broadcast" || op == "reduce" || op == "sendrecv") return 1;
  return (n - 1) / n;
}

/// Returns busbw / algbw of the row with the highest bandwidth, where rounding matters least; 0 when no row
/// is fast enough.
double bus_factor_of(const NcclTable& table) {
  double best = 0.5, ratio = 0;
  for (const NcclRow& row : table.rows) {
    for (const NcclTime& time : row.times) {
      if (time.fault.empty() && time.algbw > best && time.busbw > 0)
        best = time.algbw, ratio = time.busbw / time.algbw;
    }
  }
  return ratio;
}

/// Returns the bytes of an element; 1 for types that are unknown or have 8 bits.
int bytes_of(std::string_view type) {
  if (type == "double" || holds(type, "64")) return 8;
  if (type == "float" || type == "int" || holds(type, "32")) return 4;
  return type == "half" || holds(type, "16") ? 2 : 1;
}

/// Returns count times the size of an element, divided by the size of the message, of the table's largest
/// row.
/// It is 1 where the table counts the whole message, and 1 / ranks where it counts the part of one rank.
double counted_share(const NcclTable& table) {
  const auto largest = std::max_element(table.rows.begin(), table.rows.end(),
                                        [](const auto& a, const auto& b) { return a.size < b.size; });
  if (largest == table.rows.end() || largest->size <= 0) return 0;
  return static_cast<double>(largest->count) * bytes_of(largest->type) / static_cast<double>(largest->size);
}

/// Says whether any result in place was checked. nccl-tests cannot check an all-to-all in place and prints
/// N/A there.
bool checks_in_place(const NcclTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const NcclRow& row) {
    return std::any_of(row.times.begin(), row.times.end(),
                       [](const NcclTime& t) { return t.in_place && t.is_checked; });
  });
}

/// Says whether any result out of place was checked.
bool checks_out_of_place(const NcclTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const NcclRow& row) {
    return std::any_of(row.times.begin(), row.times.end(),
                       [](const NcclTime& t) { return !t.in_place && t.is_checked; });
  });
}

/// Says whether a collective is among those that are left.
bool holds_op(const std::vector<std::string>& ops, std::string_view op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

/// Chooses among the collectives that columns and bandwidths allow, by counts and checks; empty when they do
/// not tell.
std::string inferred_from_figures(const std::vector<std::string>& ops, const NcclTable& table, int ranks) {
  if (ops.size() == 1) return ops[0];
  // These collectives are all copies when there is a single rank.
  if (ranks == 1 && holds_op(ops, "all_reduce")) return "all_reduce";
  const double share = counted_share(table);
  if (holds_op(ops, "all_reduce") && ranks > 1)
    return std::abs(share - 1) < 0.01          ? "all_reduce"
           : std::abs(share * ranks - 1) < 0.1 ? "reduce_scatter"
                                               : "";
  // A missing check in place means nothing if the run checked nothing.
  if (!holds_op(ops, "alltoall") || !checks_out_of_place(table)) return "";
  return checks_in_place(table) ? "all_gather" : "alltoall";
}

}  // namespace

std::string op_of_program(std::string_view line) {
  std::string found;
  for (std::size_t at = line.find("_perf"); at != std::string_view::npos; at = line.find("_perf", at + 5)) {
    std::size_t begin = at;
    // The name of a program consists of letters and "_" before "_perf".
    while (begin > 0 && at - begin < 20 &&
           ((line[begin - 1] >= 'a' && line[begin - 1] <= 'z') || line[begin - 1] == '_'))
      --begin;
    const std::string_view name = line.substr(begin, at - begin);
    for (const std::string_view op : kNcclOps) {
      if (name != op) continue;
      if (!found.empty() && found != op) return "";
      found = op;
    }
  }
  return found;
}

std::string op_mentioned(std::string_view line) {
  std::string squeezed;
  for (const char c : line.substr(0, kLongestProse)) {
    if (c != '_' && c != '-' && c != ' ')
      squeezed += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  }
  std::string found;
  for (const auto& [word, op] : kWords) {
    if (!holds(squeezed, word)) continue;
    if (!found.empty()) return "";
    found = op;
  }
  return found;
}

std::string op_of_table(const NcclTable& table, int ranks, const std::string& hint) {
  if (table.rows.empty()) return "";
  std::vector<std::string> ops = allowed_by_columns(table.rows.front());
  const double ratio = bus_factor_of(table);
  const bool can_compare = ratio > 0 && ranks > 1;
  if (can_compare)
    std::erase_if(ops,
                  [&](const std::string& op) { return std::abs(bus_factor(op, ranks) / ratio - 1) > 0.04; });
  for (const std::string* name : {&table.named, &table.mentioned}) {
    if (holds_op(ops, *name)) return *name;
  }
  const std::string told = inferred_from_figures(ops, table, ranks);
  return told.empty() && holds_op(ops, hint) ? hint : told;
}

}  // namespace foretrain
