// Lists the edges of an InfraGraph file one by one. Older files write them as dotted names, newer ones as two
// ends with slices and a scheme.
#pragma once

#include <string>
#include <vector>

#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

/// A component of a device, or of one instance of a device.
struct InfraEnd {
  /// Name of the instance; empty for a component inside a device.
  std::string instance;
  /// Number of the instance, and index of the component, both from 0.
  int number = 0;
  std::string component;
  int index = 0;
  friend bool operator==(const InfraEnd&, const InfraEnd&) = default;
  friend auto operator<=>(const InfraEnd&, const InfraEnd&) = default;
};

/// An edge of an InfraGraph file: two ends and the link between them.
struct InfraEdge {
  InfraEnd a, b;
  std::string link;
};

/// A name with the numbers that its slice selects.
struct InfraSlice {
  std::string name;
  std::vector<int> numbers;
};
/// Reads "xpu[0:8:2]", "nic[3]" or "cpu". A name without brackets stands for all numbers below `count`.
/// Numbers are at most 10,000.
InfraSlice infra_slice_of(const std::string& text, int count);

/// Returns how many there are of a component of a device ("xpu") or of an instance ("server"), from the list
/// that defines it; 1 when it gives no count.
int infra_count(const YamlNode& list, const std::string& name);

/// Returns the edges of `owner`, which is a device or the whole infrastructure: those under "connections" and
/// those under "edges".
/// A dotted name that cannot be read is reported, and so are more than 100,000 edges, of which the rest is
/// left out.
std::vector<InfraEdge> infra_edges(const YamlNode& infrastructure, const YamlNode& owner,
                                   Diagnostics& diagnostics);

}  // namespace foretrain
