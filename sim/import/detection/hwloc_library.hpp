// Asks hwloc for this machine's topology, as the XML that lstopo writes, where its library is installed.
#pragma once

#include <string>

namespace foretrain {

/// The topology of this machine as hwloc writes it, or the reason why there is none.
struct HwlocXmlText {
  std::string text;
  /// Reason in words; empty when there is a text.
  std::string missing;
};

/// Loads libhwloc, lets it discover this machine and returns its XML, at most 64 MiB. Does not throw;
/// problems are in `missing`.
HwlocXmlText hwloc_xml_of_machine();

}  // namespace foretrain
