// A quantity that grows with the batch.
#pragma once

namespace foretrain {

/// An amount of FLOPs, bytes or elements: fixed + batch * per_sample.
struct Amount {
  double fixed = 0;
  double per_sample = 0;
  double at(double batch) const { return fixed + batch * per_sample; }
  Amount& operator+=(const Amount& o) { return fixed += o.fixed, per_sample += o.per_sample, *this; }
};

}  // namespace foretrain
