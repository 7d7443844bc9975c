// The causes of a step's time besides the GPU's own kernels, as values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Everything but the GPU's own kernels that takes time in a step. `other` is Account::other: copies of
/// gradients and buffers, or the pipeline's bubble of a network cut into stages.
enum class Removable : std::uint8_t { links, host, input, stragglers, busy_node, sharing, optimizer, other };
inline constexpr std::size_t kRemovableCount = 8;
inline constexpr std::array<Removable, kRemovableCount> kRemovable{
    Removable::links,     Removable::host,    Removable::input,     Removable::stragglers,
    Removable::busy_node, Removable::sharing, Removable::optimizer, Removable::other};

/// Returns the key in JSON, such as "host".
std::string_view key_of(Removable what);

/// A cause by itself, or a pair of causes that hide each other, so that only both together cost time.
struct StepCause {
  std::vector<Removable> what;
  /// Name as a noun: "Python and kernel launches".
  std::string name;
  /// Clause for a sentence: "without Python and kernel launches".
  std::string without;
  /// Seconds of the step without it.
  double step_s = 0;
  /// Seconds that its removal saves of StepCauses::step_s.
  double saves_s = 0;
};

/// Seconds that one cause adds when causes are removed one after another.
struct CausePart {
  Removable what;
  double seconds = 0;
};

/// Share of a step below which a saving is not worth a sentence.
inline constexpr double kLeastSaving = 0.01;

/// The causes of one step on `gpus` GPUs. All seconds are of the simulated step; no correction by measured
/// runs is in them.
struct StepCauses {
  int gpus = 1;
  double step_s = 0;
  /// Causes removed by themselves, largest saving first. A pair that hides each other comes before them.
  std::vector<StepCause> alone;
  /// Causes removed one after another in the order of `alone`: the parts sum to step_s - kernels_s.
  std::vector<CausePart> in_turn;
  /// Seconds of the step without any of them.
  double kernels_s = 0;
  /// Returns the cause whose removal saves most; null when none saves kLeastSaving of the step. The pointer
  /// is valid as long as `alone` is unchanged.
  const StepCause* largest() const;
  /// Returns the seconds that removing it alone saves; 0 where it takes no time.
  double saving_of(Removable what) const;
};

}  // namespace foretrain
