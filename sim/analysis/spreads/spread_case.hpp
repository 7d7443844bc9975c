// The facts about a case whose interval is asked for: the features that its spread is a function of.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/analysis/spreads/kinds.hpp"

namespace foretrain {

/// The quantity that an interval is about. step: a simulated step, without what its GPUs exchange. ratio: a
/// step over that of a smaller job of the same training, whose step is known. collective: one call. cut_step:
/// a step of a network with a layout ([parallel]). memory: bytes on the fullest GPU.
enum class SpreadOf : std::uint8_t { step, ratio, collective, cut_step, memory };
/// Names in tables, in the order of SpreadOf.
inline constexpr std::array<std::string_view, 5> kSpreadOfNames{"step", "ratio", "collective", "cut_step",
                                                                "memory"};

/// The value of a feature for the upper and the lower end of an interval; most features have equal values.
struct FeatureValue {
  double above = 0, below = 0;
};

/// The facts that a spread may depend on. A fact that a kind of case does not have is 0.
struct SpreadCase {
  SpreadOf what = SpreadOf::step;
  /// Path of messages between GPUs; any if there are none.
  MessagePath path = MessagePath::any;
  int nodes = 1;
  /// log2 of GPUs and of nodes over those of the reference.
  double doublings = 0, node_doublings = 0;
  /// Steps: how far the step's logarithm moves when one input alone moves by its unit (unit_moves()). Ratios:
  /// the same, minus what moves the reference's step alike.
  FeatureValue kernels{}, host{}, input{}, links{};
  /// Part of a GPU's throughput that the prediction loses against the reference.
  double lost = 0;
  /// Collectives: the share of the time that is not the transfer of bytes over the bottleneck.
  double latency = 0;
  OpFamily family = OpFamily::any;
  FrameworkKind framework = FrameworkKind::pytorch;
  NetworkKind network = NetworkKind::any;
  /// True if one process drives several GPUs.
  bool drives_several = false;
  /// True for 16 bit or less.
  bool is_half = false;
  /// True for 8 bit or less.
  bool is_narrow = false;
  /// True if adapters are trained.
  bool is_adapted = false;
  /// True if the version of the framework, or of NCCL, is stated.
  bool is_era_known = false;
  /// True if rows of this machine are among those that the constants were fitted to.
  bool is_measured = false;
};

/// A property of a case on which the width of its interval depends, and the function that reads it.
struct SpreadFeature {
  std::string_view name;
  FeatureValue (*value)(const SpreadCase& known);
};

/// Returns all features. The table of spreads, and the cases that it is fitted to, use their names; there is
/// no other list.
std::span<const SpreadFeature> spread_features();

}  // namespace foretrain
