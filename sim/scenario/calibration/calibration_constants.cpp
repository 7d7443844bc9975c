// Constants of calibrations: the tables of the layers that use them, one after the other.
#include "sim/scenario/calibration/calibration_constants.hpp"

#include <algorithm>

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/collective/costs.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

namespace {

/// Appends the rows of one table.
template <class Holder>
void append(std::vector<ConstantRange>& ranges, const std::vector<ConstantOf<Holder>>& table) {
  for (const ConstantOf<Holder>& row : table) ranges.push_back(row.range);
}

/// Returns whether a name fits a pattern; "link.*.bandwidth" fits every link.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() > head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

}  // namespace

std::vector<ConstantRange> calibratable_constants() {
  std::vector<ConstantRange> ranges;
  append(ranges, gpu_constants());
  append(ranges, host_constants());
  append(ranges, host_call_constants());
  // Constants of links have the link's name inside; here `*` stands for it.
  for (const ConstantOf<LinkType>& row : link_constants()) {
    ranges.push_back(row.range);
    ranges.back().name = name_of_link_constant("*", row.range.name);
  }
  append(ranges, kernel_constants());
  append(ranges, collective_constants());
  append(ranges, loss_constants());
  append(ranges, call_constants());
  return ranges;
}

const ConstantRange* find_constant(const std::vector<ConstantRange>& known, std::string_view name) {
  const auto found =
      std::ranges::find_if(known, [&](const ConstantRange& range) { return matches(range.name, name); });
  return found == known.end() ? nullptr : &*found;
}

}  // namespace foretrain
