// A difference array over the moments: each lifetime adds its bytes where it begins and subtracts them after
// its end. The running sum is the memory in use at each moment, and its maximum is the peak.
#include "sim/workload/tape/lifetimes.hpp"

#include <algorithm>

namespace foretrain {
namespace {

/// Adds the lifetimes, at `share` of their bytes, to the change of memory at each moment.
void add(std::vector<double>& change, const std::vector<Lifetime>& lifetimes, double batch,
         ActivationWidth width, double share = 1) {
  for (const Lifetime& life : lifetimes) {
    const double bytes = share * life.at(batch, width);
    change[life.from] += bytes;
    change[std::size_t{life.until} + 1] -= bytes;
  }
}

}  // namespace

double peak_bytes(const Lifetimes& lifetimes, double batch, ActivationWidth width, GradientTensors gradients,
                  double gradient_width) {
  std::vector<double> change(std::size_t{lifetimes.moments} + 1, 0);
  add(change, lifetimes.activations, batch, width);
  if (gradients == GradientTensors::made_anew)
    add(change, lifetimes.parameter_gradients, batch, width, gradient_width);
  double sum = 0, peak = 0;
  for (const double step : change) peak = std::max(peak, sum += step);
  return peak;
}

Lifetimes with_held_block_inputs(const Lifetimes& lifetimes) {
  Lifetimes out = lifetimes;
  const std::uint32_t end = lifetimes.moments - 1;
  for (const Lifetime& life : lifetimes.activations) {
    if (!life.enters_block) continue;
    // The gradient of a block's input appears when the input is read for the last time.
    Lifetime gradient = life;
    gradient.from = life.until;
    gradient.until = end;
    out.activations.push_back(gradient);
  }
  for (Lifetime& life : out.activations) {
    if (life.enters_block) life.until = end;
  }
  return out;
}

}  // namespace foretrain
