// The edges of an InfraGraph file, written out one by one: older files list them as dotted names, newer ones
// as two ends with slices and a scheme.
#pragma once

#include <string>
#include <vector>

#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

/// A component of a device, or of an instance of one.
struct InfraEnd {
  std::string instance;  ///< empty inside a device
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

/// "xpu[0:8:2]", "nic[3]", "cpu": a name and its numbers; a name without brackets stands for `count` of it.
struct InfraSlice {
  std::string name;
  std::vector<int> numbers;
};
InfraSlice infra_slice_of(const std::string& text, int count);

/// How many there are of a component of a device ("xpu"), or of an instance ("server"); 1 where nobody says.
int infra_count(const YamlNode& list, const std::string& name);

/// Those of `owner`, which is a device or the infrastructure: under connections and under edges. A dotted
/// name that cannot be read, or more than 100,000 edges: reported, the rest left out.
std::vector<InfraEdge> infra_edges(const YamlNode& infrastructure, const YamlNode& owner,
                                   Diagnostics& diagnostics);

}  // namespace foretrain
