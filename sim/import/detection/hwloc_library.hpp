// What hwloc sees of this machine, as the XML that lstopo writes, where its library is.
#pragma once

#include <string>

namespace foretrain {

struct HwlocXmlText {
  std::string text;
  std::string missing;  ///< why there is none
};

HwlocXmlText hwloc_xml_of_machine();

}  // namespace foretrain
