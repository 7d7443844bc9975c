// The critical path already says how the step follows each input; nothing is simulated again.
#include "sim/analysis/uncertainty.hpp"

#include <cmath>

#include "sim/base/random.hpp"

namespace foretrain {

Spreads spreads_of(const Scenario& scenario) {
  Spreads spreads;
  if (scenario.anchor) spreads.kernels = spreads.run_to_run;
  return spreads;
}

Interval step_interval(const SimulatedStep& step, const Spreads& spreads) {
  const auto share = [&](Account account) { return step.critical[static_cast<std::size_t>(account)] / step.step_s; };
  const double kernels = share(Account::compute) + share(Account::optimizer) + share(Account::other);
  const double host = share(Account::host) + share(Account::input_stall);
  const double variance = std::pow(kernels * spreads.kernels, 2) + std::pow(host * spreads.host, 2) +
                          std::pow(share(Account::exposed_communication) * spreads.communication, 2) + std::pow(spreads.run_to_run, 2);
  Interval interval;
  const double width = std::sqrt(variance) * normal_quantile(0.5 + interval.level / 2);
  interval.low_s = step.step_s / (1 + width);
  interval.high_s = step.step_s * (1 + width);
  return interval;
}

}  // namespace foretrain
