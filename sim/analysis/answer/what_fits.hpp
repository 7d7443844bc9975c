// What would make a training fit, and what would just fit: other memory savers, strategies, adapters, the
// largest batch, the longest samples, the smallest cards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// At most this many ways are named.
inline constexpr std::size_t kMostWaysToFit = 3;

/// Changes with which a language model that does not fit on `gpus` does, each with its memory and step
/// simulated: first the same training with smaller micro-batches, recomputed blocks and a fused loss; then
/// FSDP on more GPUs; then LoRA in bf16, and in 4 bits. Of each the first that surely fits (kSurelyFits).
/// Empty for networks that were recorded, read no tokens, or are cut into parts.
std::vector<FittingWay> changes_that_fit(const PointPredictor& points, int gpus);

/// The bounds of the same training on `gpus`; each is found by trying.
TrainingLimits limits_of(const PointPredictor& points, int gpus);

/// "up to 6 samples fit at a time; with a batch of 2, samples may have up to 11264 tokens; …".
std::string limits_words(const TrainingLimits& limits);

}  // namespace foretrain
