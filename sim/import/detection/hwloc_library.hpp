// What hwloc sees of this machine, as the XML that lstopo writes, where its library is.
#pragma once

#include <string>

namespace foretrain {

/// The topology of this machine as hwloc writes it, or the reason why there is none.
struct HwlocXmlText {
  std::string text;
  std::string missing;  ///< why there is none
};

HwlocXmlText hwloc_xml_of_machine();

}  // namespace foretrain
