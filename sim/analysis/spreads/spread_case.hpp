// What is known of a case whose interval is asked for: the features that its spread is a function of.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/analysis/spreads/kinds.hpp"

namespace foretrain {

/// What the interval is of. step: a step as simulated, without what its GPUs exchange. ratio: a step over
/// that of a smaller job of the same training, whose step is known. collective: one call. cut_step: a step of
/// a network with a layout ([parallel]). memory: bytes on the fullest GPU.
enum class SpreadOf : std::uint8_t { step, ratio, collective, cut_step, memory };
inline constexpr std::array<std::string_view, 5> kSpreadOfNames{"step", "ratio", "collective", "cut_step",
                                                                "memory"};

/// By how much a feature moves the upper and the lower end; of most both are alike.
struct FeatureValue {
  double above = 0, below = 0;
};

/// Everything that a spread may depend on. What a kind of case does not have is 0.
struct SpreadCase {
  SpreadOf what = SpreadOf::step;
  MessagePath path = MessagePath::any;  ///< of what moves between GPUs; any: nothing does
  int nodes = 1;
  double doublings = 0, node_doublings = 0;  ///< log2 of GPUs and nodes over those of the reference
  /// Of steps: how far the step's logarithm moves when one input alone moves by its unit (unit_moves()); of a
  /// ratio less what moves the reference's step alike.
  FeatureValue kernels{}, host{}, input{}, links{};
  double lost = 0;     ///< part of a GPU's throughput that the prediction loses against the reference
  double latency = 0;  ///< of a collective: part of its time that is not the bytes over the bottleneck
  OpFamily family = OpFamily::any;
  FrameworkKind framework = FrameworkKind::pytorch;
  NetworkKind network = NetworkKind::any;
  bool drives_several = false;  ///< one process drives several GPUs
  bool is_half = false;         ///< 16 bit or less
  bool is_narrow = false;       ///< 8 bit or less
  bool is_adapted = false;      ///< adapters are trained
  bool is_era_known = false;    ///< the version of the framework, or of NCCL, is stated
  bool is_measured = false;     ///< rows of this machine are among those that the constants were fitted to
};

/// A property of a case on which the width of its interval depends, and how it is read from the case.
struct SpreadFeature {
  std::string_view name;
  FeatureValue (*value)(const SpreadCase& known);
};

/// The only list of features: the table of spreads, and the cases that it is fitted to, name them so.
std::span<const SpreadFeature> spread_features();

}  // namespace foretrain
