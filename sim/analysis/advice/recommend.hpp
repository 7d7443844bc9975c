// The search for the job to ask for.
#pragma once

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/search/compare.hpp"

namespace foretrain {

/// The scenario's own strategy on every number of GPUs worth asking for, started as one process per GPU where
/// it has those; at the best of them more workers where the step waits for input, and the strategies of
/// `scenarios` that fit its launch. A training that fits no number of GPUs is cut into micro-steps. Throws
/// InputError when the data set's size is unknown.
Recommendation recommend(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                         const Progress& progress = nullptr);

/// The scenario with these strategies beside its own: those of its framework that are launched in the same
/// way.
ComparedScenarios read_recommended(const SourceText& source, const ScenarioOverrides& overrides);

}  // namespace foretrain
