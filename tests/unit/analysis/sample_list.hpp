// Samples as tests spell them, and what the model says of one.
#pragma once

#include <string>
#include <utility>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "tests/support/test_clusters.hpp"

namespace foretrain::test {

inline Sample sample_of(SampleKind kind, std::string what, std::int64_t bytes, SampleUnit unit,
                        Settings settings = {}) {
  Sample sample;
  sample.kind = kind, sample.what = std::move(what), sample.bytes = bytes, sample.unit = unit,
  sample.value = 1;
  sample.settings = std::move(settings);
  return sample;
}

inline Sample collective_sample(std::string what, int gpus, int nodes, std::int64_t bytes,
                                Settings settings = {}) {
  Sample sample =
      sample_of(SampleKind::collective, std::move(what), bytes, SampleUnit::us, std::move(settings));
  sample.gpus = gpus, sample.nodes = nodes;
  return sample;
}

/// -1: nothing.
inline double predicted(const ClusterSpec& cluster, const Sample& sample) {
  return predict_samples(cluster, {sample}).front().value_or(-1);
}

}  // namespace foretrain::test
