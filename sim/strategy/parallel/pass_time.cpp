// Sums of passes, and all-to-alls hidden behind the kernels of another micro-batch.
#include <algorithm>

#include "sim/strategy/parallel/chunk_timing.hpp"

namespace foretrain {

PassTime& PassTime::operator+=(const PassTime& other) {
  total += other.total, compute += other.compute, host += other.host;
  tensor += other.tensor, context += other.context, expert += other.expert, data += other.data;
  return *this;
}

PassTime PassTime::times(double factor) const {
  PassTime out = *this;
  for (double PassTime::*part : {&PassTime::total, &PassTime::compute, &PassTime::host, &PassTime::tensor,
                                 &PassTime::context, &PassTime::expert, &PassTime::data})
    out.*part *= factor;
  return out;
}

/// Hidden time is limited by exchanges and by kernels. Both passes share it in proportion to their exchanges;
/// the slowdown of kernels in proportion to their kernels.
void hide_expert_exchanges(ChunkTime& time, double gpu_share) {
  PassTime &forward = time.forward, &backward = time.backward;
  const double exchanges = forward.expert + backward.expert;
  const double kernels = forward.compute + backward.compute;
  if (exchanges <= 0 || kernels <= 0) return;
  const double hidden = std::min(exchanges, kernels);
  for (PassTime* pass : {&forward, &backward}) {
    const double away = hidden * pass->expert / exchanges;
    const double slower = hidden * gpu_share * pass->compute / kernels;
    pass->expert -= away, pass->compute += slower, pass->total += slower - away;
  }
}

}  // namespace foretrain
