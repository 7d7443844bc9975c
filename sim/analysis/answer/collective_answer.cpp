// The answer is about the largest message that runs, because it shows what the links carry; small messages
// show the cost of a call.
#include "sim/analysis/answer/collective_answer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"

namespace foretrain {

namespace {

/// Returns the point with the largest size that runs; nullptr if none does.
const CollectivePoint* largest_that_runs(const CollectiveCurve& curve) {
  const CollectivePoint* largest = nullptr;
  for (const CollectivePoint& p : curve.points)
    if (p.channels > 0 && (largest == nullptr || p.size > largest->size)) largest = &p;
  return largest;
}

/// Returns the sentence on the limit of the call.
std::string bound_words(const CollectiveCurve& curve, const CollectivePoint& p) {
  switch (p.bound) {
    case BoundBy::link:
      return p.bottleneck < 0 ? "Links bound the call."
                              : fmt::format("The link {} bounds the call: it carries the most for its speed.",
                                            curve.links[static_cast<std::size_t>(p.bottleneck)]);
    case BoundBy::launch:
      return "Launching the kernels takes longest.";
    case BoundBy::latency:
      return "The latency of its messages bounds the call, not the bandwidth of links.";
    case BoundBy::thread_blocks:
      return "The GPU's thread blocks bound the call: more channels would carry more.";
    case BoundBy::host:
      return "The processes on the host bound the call.";
    case BoundBy::nothing:
      break;
  }
  return {};
}

/// Returns the action that relieves that limit.
std::string action_for(const CollectivePoint& p) {
  switch (p.bound) {
    case BoundBy::launch:
    case BoundBy::latency:
      return "Send fewer, larger messages.";
    case BoundBy::thread_blocks:
      return "Try more channels: --channels N.";
    default:
      return "Compare with your own run of nccl-tests: --measured FILE.csv.";
  }
}

}  // namespace

Answer answer_of(const CollectiveCurve& curve) {
  Answer answer;
  answer.gpus = curve.gpus();
  answer.counts = {answer.gpus};
  answer.quantity = "time";
  answer.question =
      fmt::format("{} on {} of {} of {} with {}", name_of(curve.op), counted(curve.gpus(), "GPU"),
                  counted(curve.placement.nodes, "node"), curve.cluster, curve.library);
  const CollectivePoint* p = largest_that_runs(curve);
  // A single GPU has no messages; any other failure has a reason at the first point.
  if (p == nullptr) {
    answer.kind = VerdictKind::would_not_start;
    const bool is_alone = curve.gpus() == 1 || curve.points.empty() || curve.points.front().why.empty();
    answer.verdict = is_alone
                         ? fmt::format("{} has nothing to send here.", name_of(curve.op))
                         : fmt::format("{} does not run: {}.", name_of(curve.op), curve.points.front().why);
    answer.action = "Ask for more GPUs, or for another operation.";
    return answer;
  }
  answer.value_s = to_seconds(p->time);
  const std::optional<TimeRange> interval = interval_of(*p);
  if (interval) answer.interval = {to_seconds(interval->low), to_seconds(interval->high)};
  answer.verdict = fmt::format(
      "{} of {} on {} takes about {}{}: {:.3g} GB/s of bus bandwidth.", name_of(curve.op), to_string(p->size),
      counted(curve.gpus(), "GPU"), spoken_duration(answer.value_s),
      interval ? fmt::format(" ({})", spoken_range(answer.interval.low_s, answer.interval.high_s)) : "",
      p->busbw.per_second * 1e-9);
  answer.cause = bound_words(curve, *p);
  answer.action = action_for(*p);
  if (curve.processes_per_node > 0)
    answer.assumptions.push_back(
        {counted(curve.processes_per_node, "process") + " for each node", "--launch-processes"});
  return answer;
}

}  // namespace foretrain
