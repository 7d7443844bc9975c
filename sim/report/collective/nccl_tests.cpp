// Writes a curve in the layout of nccl-tests. Columns and digits are those of nccl-tests 2.13
// (src/common.cu), so that programs that parse its output can read this one.
//
// The columns are size, elements, type, operation, root, and for both kinds of call the time in us, algorithm
// and bus bandwidth in GB/s, and the number of wrong values, which is N/A.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "sim/analysis/answer/collective_answer.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/evidence/evidence_report.hpp"

namespace foretrain {

namespace {

// Largest number of ranks that are listed.
constexpr std::size_t kMostDevices = 64;

/// Returns one line for each rank: node, device and GPU.
std::string devices(const CollectiveCurve& curve) {
  std::string out = "#\n# Using devices\n";
  const auto& ranks = curve.placement.ranks;
  for (std::size_t rank = 0; rank < std::min(ranks.size(), kMostDevices); ++rank) {
    fmt::format_to(std::back_inserter(out), "#  Rank {:2} Group  0 Pid {:6} on node{} device {:2} {}\n", rank,
                   0, ranks[rank].node, ranks[rank].gpu, curve.gpu);
  }
  if (ranks.size() > kMostDevices) out += fmt::format("#  and {} more\n", ranks.size() - kMostDevices);
  return out;
}

/// Returns verdict, cause and action as comments.
std::string answer_comments(const CollectiveCurve& curve) {
  const Answer answer = answer_of(curve);
  std::string out;
  for (const std::string& sentence : {answer.verdict, answer.cause, answer.action})
    if (!sentence.empty()) out += "# " + sentence + "\n";
  return out;
}

/// Returns the lines above the table: that this is a prediction, the answer, and the parameters as nccl-tests
/// prints them.
std::string heading(const CollectiveCurve& curve) {
  const int nodes = curve.placement.nodes, per_node = (curve.gpus() + nodes - 1) / nodes;
  const int threads = curve.threads_per_process;
  const int per_thread =
      curve.processes_per_node == 0 ? 1 : std::max(1, per_node / (curve.processes_per_node * threads));
  const auto by_size = [](const CollectivePoint& a, const CollectivePoint& b) { return a.size < b.size; };
  const auto [least, most] = std::ranges::minmax_element(curve.points, by_size);
  const bool any = !curve.points.empty();
  return fmt::format(
             "# foretrain predicts, nothing was measured: {} on {} of {} of {}, {}, fidelity "
             "{}{}\n",
             name_of(curve.op), counted(curve.gpus(), "GPU"), counted(nodes, "node"), curve.cluster,
             curve.library, name_of(curve.fidelity), curve.single ? ", single calls" : "") +
         answer_comments(curve) +
         fmt::format(
             "# nThread {} nGpus {} minBytes {} maxBytes {} warmup iters: 0 iters: 1 agg iters: 1 "
             "validation: "
             "0 graph: 0\n",
             threads, per_thread, any ? least->size.count : 0, any ? most->size.count : 0);
}

// The table has two groups of columns, for out-of-place and in-place calls.
constexpr std::string_view kColumns =
    "#\n"
    "#                                                              out-of-place                       "
    "in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)       \n";

/// Returns a time with as many digits as nccl-tests prints.
std::string time_text(double microseconds) {
  return fmt::format("{:7.{}f}", microseconds, microseconds >= 10'000 ? 0 : microseconds >= 100 ? 1 : 2);
}

/// Returns one row: size in bytes, elements, type, operation, root, and twice time, bandwidths and the check
/// column.
std::string row(const CollectiveCurve& curve, const CollectivePoint& p) {
  const std::string result =
      fmt::format("  {}  {:6.2f}  {:6.2f}    N/A", time_text(static_cast<double>(p.time.count()) * 1e-6),
                  p.algbw.per_second * 1e-9, p.busbw.per_second * 1e-9);
  return fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}{}{}\n", p.size.count,
                     counted_elements(curve.op, p.size, curve.gpus()), "float",
                     adds(curve.op) ? "sum" : "none", has_root(curve.op) ? 0 : -1, result, result);
}

// Intervals that differ by less than this fraction of the time are reported as one.
constexpr double kSameInterval = 0.1;

/// Returns one comment for each run of sizes with similar intervals, with the widest of them. Rows stay as
/// nccl-tests has them, so that other programs can read them.
std::string intervals(const CollectiveCurve& curve) {
  std::string out;
  for (auto p = curve.points.begin(); p != curve.points.end();) {
    const auto differs = [&](const CollectivePoint& other) {
      return std::abs(other.reach.above - p->reach.above) > kSameInterval ||
             std::abs(other.reach.below - p->reach.below) > kSameInterval ||
             interval_of(other).has_value() != interval_of(*p).has_value();
    };
    const auto end = std::find_if(p, curve.points.end(), differs);
    Reach widest;
    for (auto here = p; here != end; ++here)
      widest = {std::max(widest.above, here->reach.above), std::max(widest.below, here->reach.below)};
    if (interval_of(*p))
      out += fmt::format("# 90 % interval, {} to {} B: {:.2f} to {:.2f} times the time\n", p->size.count,
                         std::prev(end)->size.count, std::exp(-widest.below), std::exp(widest.above));
    p = end;
  }
  return out;
}

/// Returns the mean bus bandwidth in GB/s, as nccl-tests computes it.
double average_busbw(const CollectiveCurve& curve) {
  double sum = 0;
  for (const CollectivePoint& p : curve.points) sum += p.busbw.per_second * 1e-9;
  return curve.points.empty() ? 0 : sum / static_cast<double>(curve.points.size());
}

}  // namespace

// --quiet leaves the rows alone.
std::string write_nccl_tests(const CollectiveCurve& curve, const ReportOptions& options) {
  std::string out;
  if (options.quiet) {
    for (const CollectivePoint& p : curve.points) out += row(curve, p);
    return out;
  }
  out = heading(curve) + devices(curve);
  for (const std::string& warning : curve.warnings) out += "# warning: " + warning + "\n";
  out += kColumns;
  for (const CollectivePoint& p : curve.points) out += row(curve, p);
  out += intervals(curve);
  if (const std::string line = evidence_line_of(curve); !line.empty()) out += "# " + line;
  out +=
      fmt::format("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {:g}\n#\n", average_busbw(curve));
  if (!options.explain) return out;
  for (const std::string& line : explain(curve)) out += "# " + line + "\n";
  std::istringstream neighbours(neighbour_lines(curve));
  for (std::string line; std::getline(neighbours, line);) out += (line.empty() ? "#" : "# ") + line + "\n";
  return out;
}

}  // namespace foretrain
