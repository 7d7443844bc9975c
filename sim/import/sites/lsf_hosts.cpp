// Reads how LSF lists hosts: bhosts -gpu, lshosts -gpu and lsload -gpuload have a line for each GPU, lsload
// -gpu one for each host, and lshosts has CPUs and memory.
//
//   HOST_NAME   type   model   cpuf  ncpus  maxmem  maxswp  server  RESOURCES
//   HOST_NAME   GPU_ID  MODEL                MUSED  MRSV  NJOBS
//   node01      0       TeslaV100_SXM2_32GB  0G     0G    0
//
// Several tables in one text describe one site. Taken are the GPUs with their product, cores and memory of
// each host; loads and resources are ignored. Tables that list no host below the heading are reported.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/node_records.hpp"

namespace foretrain {

namespace {

/// Hosts of a site, at most; further ones are dropped.
constexpr std::size_t kMostLsfHosts = 100'000;
/// Largest memory of a host that is believed, in bytes.
constexpr double kMostLsfBytes = 1e15;

/// Positions of the columns that are read among the words of a line; -1: the table has no such column.
struct LsfColumns {
  int gpu_id = -1, model = -1, gpus = -1, cpus = -1, memory = -1;
  bool is_read() const { return gpu_id >= 0 || gpus >= 0 || cpus >= 0; }
};

/// Finds the columns in a heading; none for other lines. MODEL names a GPU only behind GPU_ID: lshosts has a
/// column of that name for the CPU. Physical GPUs win over those that jobs may use.
LsfColumns lsf_columns(const Words& heading) {
  LsfColumns columns;
  if (heading.empty() || heading.front() != "HOST_NAME") return columns;
  bool counts_physical = false;
  for (std::size_t i = 1; i < heading.size(); ++i) {
    const std::string word = lower_case(heading[i]);
    const int at = static_cast<int>(i);
    if (word == "gpu_id" || word == "gpuid") columns.gpu_id = at;
    if (word == "gpu_model" || (word == "model" && columns.gpu_id >= 0)) columns.model = at;
    if (word == "ngpus_physical") columns.gpus = at, counts_physical = true;
    if (word == "ngpus" && !counts_physical) columns.gpus = at;
    if (word == "ncpus") columns.cpus = at;
    if (word == "maxmem") columns.memory = at;
  }
  return columns;
}

/// Returns "TeslaV100_SXM2_32GB" or "NVIDIAA100_SXM4_40GB" as words with blanks, as the catalog of products
/// has them.
std::string lsf_product(std::string_view model) {
  std::string out;
  for (const std::string_view maker : {"NVIDIA", "Tesla", "GeForce", "Quadro"}) {
    if (!lower_case(model).starts_with(lower_case(maker))) continue;
    out += std::string(maker) + " ";
    model.remove_prefix(maker.size());
  }
  for (const char c : model.substr(0, 200)) out += c == '_' ? ' ' : c;
  return out;
}

/// Returns "511.7G" in bytes. Units are powers of two; a number without a unit is in MiB.
Bytes lsf_memory(std::string_view text) {
  const std::string copy(text.substr(0, 40));
  char* rest = nullptr;
  const double value = std::strtod(copy.c_str(), &rest);
  const std::string_view units = "KMGT";
  const std::size_t unit = *rest == '\0' ? 1 : units.find(*rest);
  if (unit == std::string_view::npos || !(value > 0)) return {};
  // The first factor makes kilobytes; K multiplies no further, M once, and so on.
  double bytes = value * 1024;
  for (std::size_t i = 0; i < unit; ++i) bytes *= 1024;
  return bytes < kMostLsfBytes ? Bytes{static_cast<std::int64_t>(bytes)} : Bytes{};
}

/// Collects the rows of all tables by the host's name. A heading holds until the next one.
class LsfTables {
 public:
  void take(const LogLine& line) {
    const Words words = words_of(line.text, 40);
    if (words.empty()) return;
    if (words.front() == "HOST_NAME") {
      columns_ = lsf_columns(words);
      if (columns_.is_read() && first_line_ == 0) first_line_ = line.number;
      return;
    }
    if (!columns_.is_read()) return;
    // The first word of such a line is the second column, so positions shift by one.
    const bool is_more = line.text.starts_with(' ') && columns_.gpu_id >= 0;
    if (!is_more) host_ = std::string(words.front().substr(0, 200));
    if (host_.empty() || (hosts_.size() >= kMostLsfHosts && !hosts_.contains(host_))) return;
    NodeRecord& host = hosts_[host_];
    if (host.line == 0) host.line = line.number;
    take_row(words, is_more ? 1 : 0, host);
  }

  /// Returns the hosts in the order in which the text lists them first.
  std::vector<NodeRecord> records() const {
    std::vector<NodeRecord> out;
    for (const auto& [name, host] : hosts_) {
      out.push_back(host);
      out.back().hosts = {name};
    }
    std::ranges::stable_sort(out, {}, &NodeRecord::line);
    return out;
  }
  int first_line() const { return first_line_; }

 private:
  /// Takes the values of one row; `missing` is 1 where the host's name is not in the line.
  void take_row(const Words& words, int missing, NodeRecord& host) const {
    const auto word = [&](int column) {
      const int at = column - missing;
      return column < 0 || at < 0 || at >= static_cast<int>(words.size())
                 ? std::string_view()
                 : words[static_cast<std::size_t>(at)];
    };
    if (integer_of(word(columns_.gpu_id))) {
      host.gpus = std::min(host.gpus + 1, 1000);
      if (columns_.model >= 0) host.gpu_product = lsf_product(word(columns_.model));
    }
    if (const auto gpus = integer_of(word(columns_.gpus)))
      host.gpus = static_cast<int>(std::clamp<std::int64_t>(*gpus, 0, 1000));
    if (const auto cpus = integer_of(word(columns_.cpus)))
      host.cores = static_cast<int>(std::clamp<std::int64_t>(*cpus, 0, 100'000));
    if (columns_.memory >= 0) host.memory = lsf_memory(word(columns_.memory));
  }

  std::map<std::string, NodeRecord> hosts_;
  LsfColumns columns_;
  std::string host_;
  int first_line_ = 0;
};

}  // namespace

bool is_lsf_hosts(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (line.text.starts_with("HOST_NAME") && lsf_columns(words_of(line.text, 40)).is_read()) return true;
  }
  return false;
}

Machine read_lsf_hosts(const SourceText& source, Diagnostics& diagnostics) {
  LsfTables tables;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) tables.take(line);
  const std::vector<NodeRecord> hosts = tables.records();
  if (hosts.empty()) {
    diagnostics.report({std::max(1, tables.first_line()), 1, 1}, "no host stands below the heading",
                       "bhosts -gpu, or lshosts, prints what is read");
    return {};
  }
  return machine_of_records(hosts, source.name, BatchSystem::lsf);
}

}  // namespace foretrain
