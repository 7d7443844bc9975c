// The objects of a collective over message sizes.
#pragma once

#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// A curve, with the reason of every choice where it was asked for.
struct ShownCurve {
  const CollectiveCurve& curve;
  bool explain;
};

template <>
const OutputObject<ShownCurve>& output_object<ShownCurve>();

}  // namespace foretrain
