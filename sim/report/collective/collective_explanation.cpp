// Sizes as powers of two, because that is how they were asked for.
#include <array>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/collective/collective_catalog.hpp"

namespace foretrain {

namespace {

std::string binary_size(Bytes size) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  std::int64_t count = size.count;
  while (count >= 1024 && count % 1024 == 0 && unit + 1 < kUnits.size()) count /= 1024, ++unit;
  return fmt::format("{} {}", count, kUnits[unit]);
}

std::string launch_line(const CollectiveCurve& curve) {
  if (curve.processes_per_node == 0) return "launch: one process per GPU";
  return fmt::format("launch: {} per node; a process launches the kernels of its GPUs one after the other",
                     counted(curve.processes_per_node, "process"));
}

std::string bound_text(const CollectiveCurve& curve, const CollectivePoint& p) {
  const std::string link = p.bottleneck < 0 ? "none" : curve.links[static_cast<std::size_t>(p.bottleneck)];
  if (p.bound == BoundBy::link) return "bound by the link " + link;
  return fmt::format("bound by {}; busiest link {}", name_of(p.bound), link);
}

std::string size_line(const CollectiveCurve& curve, const CollectivePoint& p) {
  if (p.channels == 0) return fmt::format("{}: {}", binary_size(p.size), p.why);
  const CollectiveTiming& t = p.timing;
  return fmt::format("{}: {}, {}, {}; start {} + steps {} + fill {} + data {}, launch {}; {}{}{}",
                     binary_size(p.size), p.algorithm, p.protocol, counted(p.channels, "channel"),
                     to_string(t.start), to_string(t.steps), to_string(t.fill), to_string(t.data),
                     to_string(p.launch), bound_text(curve, p), p.why.empty() ? "" : "; ", p.why);
}

}  // namespace

std::vector<std::string> explain(const CollectiveCurve& curve) {
  std::vector<std::string> lines{launch_line(curve)};
  for (const CollectivePoint& p : curve.points) lines.push_back(size_line(curve, p));
  return lines;
}

}  // namespace foretrain
