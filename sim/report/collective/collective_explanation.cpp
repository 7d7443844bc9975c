// Explains a curve in words. Sizes are written in binary units, as users request them in powers of two.
#include <array>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/collective/collective_catalog.hpp"

namespace foretrain {

namespace {

/// Returns the size in the largest binary unit that divides it.
std::string binary_size(Bytes size) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  std::int64_t count = size.count;
  while (count >= 1024 && count % 1024 == 0 && unit + 1 < kUnits.size()) count /= 1024, ++unit;
  return fmt::format("{} {}", count, kUnits[unit]);
}

/// Returns the line on how kernels are launched.
std::string launch_line(const CollectiveCurve& curve) {
  if (curve.processes_per_node == 0) return "launch: one process per GPU";
  const std::string threads =
      curve.threads_per_process > 1 ? fmt::format(" with {} threads", curve.threads_per_process) : "";
  return fmt::format("launch: {} per node{}; a {} launches the kernels of its GPUs one after the other",
                     counted(curve.processes_per_node, "process"), threads,
                     threads.empty() ? "process" : "thread");
}

/// Returns the line on containers or pods, between which NCCL has neither P2P nor shared memory.
std::string isolation_line(const CollectiveCurve& curve) {
  return fmt::format(
      "nodes: {}; NCCL takes every {} for a node, and no two of them have P2P or shared memory",
      counted(curve.gpus(), "GPU"), curve.isolation == nccl::Isolation::pod ? "pod" : "container");
}

/// Returns what the time depends on most, and the busiest link.
std::string bound_text(const CollectiveCurve& curve, const CollectivePoint& p) {
  const std::string link = p.bottleneck < 0 ? "none" : curve.links[static_cast<std::size_t>(p.bottleneck)];
  // Otherwise latency or the host decides, and the busiest link is named for information.
  if (p.bound == BoundBy::link) return "bound by the link " + link;
  return fmt::format("bound by {}; busiest link {}", name_of(p.bound), link);
}

/// Returns the line of one size. Without channels nothing runs, and only the reason is given.
std::string size_line(const CollectiveCurve& curve, const CollectivePoint& p) {
  if (p.channels == 0) return fmt::format("{}: {}", binary_size(p.size), p.why);
  const CollectiveTiming& t = p.timing;
  const std::string hidden =
      p.hidden > Time::zero() ? fmt::format(", of which the loop hides {}", to_string(p.hidden)) : "";
  return fmt::format("{}: {}, {}, {}; start {} + steps {} + fill {} + data {}{}, launch {}; {}{}{}",
                     binary_size(p.size), p.algorithm, p.protocol, counted(p.channels, "channel"),
                     to_string(t.start), to_string(t.steps), to_string(t.fill), to_string(t.data), hidden,
                     to_string(p.launch), bound_text(curve, p), p.why.empty() ? "" : "; ", p.why);
}

}  // namespace

// Lines about the launch come first, since they hold for all sizes.
std::vector<std::string> explain(const CollectiveCurve& curve) {
  std::vector<std::string> lines{launch_line(curve)};
  if (curve.isolation != nccl::Isolation::none) lines.push_back(isolation_line(curve));
  if (curve.single) lines.push_back("time: of one call, launch and collective one after the other");
  for (const CollectivePoint& p : curve.points) lines.push_back(size_line(curve, p));
  return lines;
}

}  // namespace foretrain
