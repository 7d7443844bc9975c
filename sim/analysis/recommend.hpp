// The search for the job to ask for.
#pragma once

#include "sim/analysis/compare.hpp"
#include "sim/analysis/recommendation.hpp"

namespace foretrain {

/// The scenario's own strategy on every number of GPUs worth asking for; at the best of them the strategies of `scenarios` that fit its
/// launch, and fewer or more workers where the step waits for input. A training that fits no GPU is cut into micro-steps. Throws InputError
/// when the data set's size is unknown.
Recommendation recommend(const ComparedScenarios& scenarios, const RecommendationRequest& request, const Progress& progress = nullptr);

/// The scenario with these strategies beside its own: those of its framework that are launched in the same way.
ComparedScenarios read_recommended(const SourceText& source, const ScenarioOverrides& overrides);

}  // namespace foretrain
