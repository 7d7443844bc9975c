// What costs a step time besides the GPU's own kernels, as values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Everything but the GPU's own kernels that takes time in a step. `other` is Account::other: copies of
/// gradients and buffers, of a network cut into stages the pipeline's bubble.
enum class Removable : std::uint8_t { links, host, input, stragglers, busy_node, sharing, optimizer, other };
inline constexpr std::size_t kRemovableCount = 8;
inline constexpr std::array<Removable, kRemovableCount> kRemovable{
    Removable::links,     Removable::host,    Removable::input,     Removable::stragglers,
    Removable::busy_node, Removable::sharing, Removable::optimizer, Removable::other};

/// "host": the key in JSON.
std::string_view key_of(Removable what);

/// One thing, or two that hide each other, so that only both together cost time.
struct StepCause {
  std::vector<Removable> what;
  std::string name;     ///< "Python and kernel launches"
  std::string without;  ///< "without Python and kernel launches"
  double step_s = 0;    ///< without it
  double saves_s = 0;   ///< of StepCauses::step_s
};

/// Seconds that one cause adds when causes are removed one after another.
struct CausePart {
  Removable what;
  double seconds = 0;
};

/// What saves less of a step is no cause worth a sentence.
inline constexpr double kLeastSaving = 0.01;

/// All seconds are of one step on `gpus` GPUs as it is simulated: no correction by evidence is in them.
struct StepCauses {
  int gpus = 1;
  double step_s = 0;
  /// Each removed by itself, largest saving first; in front a pair where two hide each other.
  std::vector<StepCause> alone;
  /// Removed one after another in the order of `alone`: the parts sum to step_s - kernels_s.
  std::vector<CausePart> in_turn;
  double kernels_s = 0;  ///< the step without any of them
  /// The one whose removal saves most; null when none saves kLeastSaving of the step.
  const StepCause* largest() const;
  /// Seconds that removing it alone saves; 0 where it takes no time.
  double saving_of(Removable what) const;
};

}  // namespace foretrain
