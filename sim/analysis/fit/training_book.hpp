// Scenarios of the trainings that samples are about, each made once although a fit predicts it many times.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

class TrainingBook {
 public:
  /// Stays until the next call. Throws InputError as make_scenario() does, every time anew. Requires one
  /// number of GPUs.
  const Scenario& scenario(const ScenarioOverrides& overrides);
  /// What makes one training another.
  static std::vector<std::string> key_of(const ScenarioOverrides& overrides);

 private:
  /// Scenarios hold whole networks, so only so many are kept.
  static constexpr std::size_t kMostKept = 64;
  std::map<std::vector<std::string>, Scenario> known_;
};

}  // namespace foretrain
