// The cases of a sweep dealt out to threads, and their results brought to one place.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// Cases that differ in nothing but their number of GPUs.
struct GroupResult {
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<Value>> values;
  std::vector<CaseResult> results;
};

struct CaseThreads {
  Shard shard{};
  int threads = 1;
  std::vector<std::int64_t> done;  ///< numbers that are left out, ascending
  /// Called on the thread that calls predict_cases(), in no order.
  std::function<void(const GroupResult&)> take;
  /// Now and then between results, on the same thread; true: no further cases.
  std::function<bool()> stops;
};

/// Returns when every case of the shard has been taken, or stops() has said so and those begun have. What a
/// thread throws is thrown here.
void predict_cases(const SweptScenario& scenario, SweepCases& cases, const CaseThreads& how);

}  // namespace foretrain
