// The declared JSON objects of a collective over message sizes.
#pragma once

#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// A curve with the option that shows the reason of every choice.
struct ShownCurve {
  const CollectiveCurve& curve;
  bool explain;
};

/// Returns the fields of foretrain.collective/1.
template <>
const OutputObject<ShownCurve>& output_object<ShownCurve>();

}  // namespace foretrain
