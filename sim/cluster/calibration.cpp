// Linear search by name; a calibration has a few dozen constants.
#include "sim/cluster/calibration.hpp"

#include <algorithm>

namespace foretrain {

const CalibratedConstant* Calibration::find(std::string_view wanted) const {
  const auto found = std::find_if(constants.begin(), constants.end(),
                                  [&](const CalibratedConstant& c) { return c.name == wanted; });
  return found == constants.end() ? nullptr : &*found;
}

}  // namespace foretrain
