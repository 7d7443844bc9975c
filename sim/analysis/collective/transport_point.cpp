// The parts of the time are those of the closed formula. Additional time that another fidelity finds counts
// as data that waits for links.
#include <algorithm>

#include "sim/analysis/collective/collective_curve.hpp"

namespace foretrain {

CollectivePoint transport_point(const Transport& transport, Bytes size, const TransportRun& run) {
  const TransportPlan& plan = run.plan;
  CollectivePoint p;
  p.size = size;
  p.why = plan.choice.why;
  if (!plan.choice.family) return p;
  p.algorithm = name_of(*plan.choice.family);
  p.protocol = transport.eager_limit.count == 0 ? "-" : plan.rendezvous ? "rendezvous" : "eager";
  p.channels = transport.streams;
  p.time = run.time;
  p.timing.steps = std::min(
      run.time, seconds(plan.hops * to_seconds(plan.latency) + plan.messages * to_seconds(plan.overhead)));
  p.timing.data = run.time - p.timing.steps;
  // The host bounds a message if its time for each byte exceeds that of the link.
  const bool host = plan.rate.per_second * plan.host_seconds_per_byte > 1;
  p.bound = p.timing.steps >= p.timing.data ? BoundBy::latency : host ? BoundBy::host : BoundBy::link;
  return p;
}

}  // namespace foretrain
