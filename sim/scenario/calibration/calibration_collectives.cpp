// Collectives of a calibration file. Each table [[collectives]] is one operation of one job, with segments
// that ascend in size and do not overlap:
// [[collectives]]
// op = "all_reduce"
// gpus = 8
// segments = [{ from = "8 B", to = "64 KiB", latency = "11.2 us", bandwidth = "24.1 GBps" }]
#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/scenario/calibration/calibration_tables.hpp"

namespace foretrain {

namespace {

/// Largest number of processes on a node.
constexpr int kMostProcesses = 1024;
/// Largest bandwidth in bytes per second: no wire carries more.
constexpr double kFastest = 1e15;
/// Longest latency in s.
constexpr double kLongest = 1e6;

/// Returns names in lower case, as files write them.
template <class Names>
std::vector<std::string> lower_case_names(const Names& of) {
  std::vector<std::string> names;
  for (const auto& one : of) {
    names.emplace_back(name_of(one));
    for (char& c : names.back()) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return names;
}

/// Reads the end of a segment, in bytes.
double read_message_size(TableReader& reader, std::string_view key, std::string_view example) {
  reader.require(key, example);
  const auto bytes = read_quantity(reader, key, Dimension::bytes);
  if (bytes && *bytes <= 0)
    reader.report(reader.span_of(key), fmt::format("{} must be more than zero", reader.full_name(key)));
  return bytes.value_or(0);
}

/// Reads the line of a segment. bandwidth = "24.1 GBps" is the inverse of seconds per byte; a segment without
/// it takes the same time at every size.
void read_line(TableReader& reader, TimeSegment& segment) {
  reader.require("latency", "\"11.2 us\"");
  const auto latency = read_quantity(reader, "latency", Dimension::time);
  const auto bandwidth = read_quantity(reader, "bandwidth", Dimension::byte_rate);
  segment.latency_s = latency.value_or(0);
  if (bandwidth && *bandwidth > 0) segment.seconds_per_byte = 1 / *bandwidth;
  // A latency of 0 s is valid only together with a bandwidth.
  if (segment.latency_s > kLongest)
    reader.report(reader.span_of("latency"),
                  fmt::format("{} is longer than 12 days", reader.full_name("latency")));
  if (bandwidth && !(*bandwidth >= 1 && *bandwidth <= kFastest))
    reader.report(reader.span_of("bandwidth"),
                  fmt::format("{} must be from \"1 Bps\" to \"1 PBps\"", reader.full_name("bandwidth")),
                  "no wire carries more; leave it out where time does not grow with size");
  if (latency && *latency == 0 && !reader.has("bandwidth"))
    reader.report(
        reader.span_of("latency"),
        fmt::format("{} must be more than zero where there is no bandwidth", reader.full_name("latency")));
}

/// Reads one segment, which must lie above `begin`, the end of the one before.
TimeSegment read_segment(const Table& table, const std::string& path, double begin,
                         Diagnostics& diagnostics) {
  TableReader reader(table, path, diagnostics);
  TimeSegment segment;
  segment.least = read_message_size(reader, "from", "\"8 B\"");
  segment.most = read_message_size(reader, "to", "\"64 KiB\"");
  read_line(reader, segment);
  segment.spread = reader.number("spread", 0, kLargestSpread).value_or(0);
  segment.samples = static_cast<int>(reader.integer("samples", 0, kMostOfSamples).value_or(0));
  // The end must not lie below the start, nor the start in the segment before.
  if (segment.most > 0 && segment.most < segment.least)
    reader.report(reader.span_of("to"),
                  fmt::format("{} is smaller than {}", reader.full_name("to"), reader.full_name("from")));
  else if (segment.least > 0 && segment.least <= begin)
    reader.report(reader.span_of("from"),
                  fmt::format("{} must lie above the segment before it", reader.full_name("from")),
                  "segments ascend and do not overlap");
  reader.finish();
  return segment;
}

/// Reads all collectives of a document and reports repeated ones.
class CollectivesReader {
 public:
  explicit CollectivesReader(TableReader& document) : document_(document) {}

  // Returns the collectives in the order of the file.
  std::vector<CalibratedCollective> read() {
    const Array* list = document_.array("collectives", kMostCollectives);
    if (list == nullptr) return {};
    std::vector<CalibratedCollective> out;
    for (const Value& value : *list) {
      const auto* table = std::get_if<Table>(&value.data);
      if (table != nullptr)
        out.push_back(read_one(*table));
      else
        document_.report(value.span, "collectives must hold tables",
                         "each collective begins with [[collectives]]");
    }
    return out;
  }

 private:
  // Reads one collective.
  CalibratedCollective read_one(const Table& table) {
    TableReader reader(table, "collectives", document_.diagnostics());
    CalibratedCollective out;
    reader.require("op", "\"all_reduce\"");
    reader.require("gpus", "8");
    out.op = reader.one_of("op", ops_).value_or("");
    out.gpus = static_cast<int>(reader.integer("gpus", 1, kMostClusterGpus).value_or(1));
    out.nodes = static_cast<int>(reader.integer("nodes", 1, kMostNodes).value_or(1));
    out.processes_per_node =
        static_cast<int>(reader.integer("processes_per_node", 0, kMostProcesses).value_or(0));
    out.algorithm = reader.one_of("algorithm", algorithms_).value_or("");
    out.protocol = reader.one_of("protocol", protocols_).value_or("");
    if (reader.has("gpus") && out.nodes > out.gpus)
      reader.report(reader.span_of("nodes"),
                    fmt::format("{} nodes cannot share {}", out.nodes, counted(out.gpus, "GPU")),
                    "gpus counts those of all nodes");
    read_segments(reader, out);
    reader.finish();
    // Two tables for the same operation and job would contradict each other.
    const bool is_new =
        seen_.insert({out.op, out.gpus, out.nodes, out.processes_per_node, out.algorithm, out.protocol})
            .second;
    if (!is_new && !out.op.empty())
      reader.report(table.span, "this collective stands here twice", "one table for each operation and job");
    return out;
  }

  // Reads its segments, at least one.
  void read_segments(TableReader& reader, CalibratedCollective& out) {
    reader.require(
        "segments",
        "[ { from = \"8 B\", to = \"64 KiB\", latency = \"11.2 us\", bandwidth = \"24.1 GBps\" } ]");
    const Array* list = reader.array("segments", kMostSegments);
    if (list == nullptr) return;
    if (list->empty()) reader.report(reader.span_of("segments"), "collectives.segments is empty");
    double begin = 0;
    for (const Value& value : *list) {
      const auto* table = std::get_if<Table>(&value.data);
      if (table == nullptr) {
        reader.report(value.span, "collectives.segments must hold tables in braces");
        continue;
      }
      out.segments.push_back(read_segment(*table, "collectives.segments", begin, reader.diagnostics()));
      // A wrong segment does not move the end back.
      begin = std::max(begin, out.segments.back().most);
    }
  }

  TableReader& document_;
  std::vector<std::string> ops_ = lower_case_names(kCollectiveOps);
  std::vector<std::string> algorithms_ = lower_case_names(nccl::kAlgorithms),
                           protocols_ = lower_case_names(kProtocols);
  // Collectives so far, by operation, job, algorithm and protocol.
  std::set<std::tuple<std::string, int, int, int, std::string, std::string>> seen_;
};

}  // namespace

std::vector<CalibratedCollective> read_collectives(TableReader& document) {
  return CollectivesReader(document).read();
}

}  // namespace foretrain
