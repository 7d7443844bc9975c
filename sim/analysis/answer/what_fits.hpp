// Changes that make a training fit, and the limits of what fits: largest batch, longest samples, smallest
// GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Most changes that an answer names.
inline constexpr std::size_t kMostWaysToFit = 3;

/// Returns changes with which a language model that does not fit on `gpus` does, each with its simulated
/// memory and step. They are tried in this order: the same training with smaller micro-batches, recomputed
/// blocks and a fused loss; FSDP on more GPUs; LoRA in 16 bit; LoRA beside weights of 4 bits. Of each kind
/// the first that surely fits (kSurelyFits) is returned. Empty for networks that were recorded, read no
/// tokens, or are cut into parts.
std::vector<FittingWay> changes_that_fit(const PointPredictor& points, int gpus);

/// Returns the limits of the same training on `gpus`; each is found by simulated trials.
TrainingLimits limits_of(const PointPredictor& points, int gpus);

/// Returns the limits in words: "up to 6 samples fit at a time; with a batch of 2, samples may have up to
/// 11264 tokens; …".
std::string limits_words(const TrainingLimits& limits);

}  // namespace foretrain
