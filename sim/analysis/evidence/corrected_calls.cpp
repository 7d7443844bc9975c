// Every size is a question of its own, because the model misses latency for other reasons than bandwidth.
#include "sim/analysis/evidence/corrected_calls.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"

namespace foretrain {

namespace {

/// Returns the call of a point.
DescribedCall call_of_point(const CollectiveCurve& curve, const CollectivePoint& p) {
  return {curve.cluster,
          std::string(name_of(curve.op)),
          p.kind,
          std::string(p.algorithm),
          std::string(p.protocol),
          p.size.count,
          curve.gpus(),
          curve.placement.nodes};
}

/// Returns true for points of NCCL calls that run.
bool can_be_corrected(const CollectivePoint& p) {
  return p.channels > 0 && p.kind.part != LongestPart::any && p.time > Time::zero();
}

/// Applies the factor to the time and the narrowing to the reach.
void correct_point(CollectivePoint& p, const CollectiveCurve& curve, const Estimate& e) {
  p.time = std::min(seconds(to_seconds(p.time) * std::exp(e.log_factor)), kLongestTime);
  p.reach.above *= e.narrowing(), p.reach.below *= e.narrowing();
  set_bandwidths(p, curve.op, curve.gpus());
}

}  // namespace

Observation call_observation(const DescribedCall& call) {
  Observation out;
  out.what = Observed::collective;
  out.cluster = call.cluster, out.op = call.op;
  out.path = kMessagePathNames[static_cast<std::size_t>(call.kind.path)];
  out.network = kLongestPartNames[static_cast<std::size_t>(call.kind.part)];
  out.strategy = fmt::format("{} {}", call.algorithm, call.protocol);
  out.size = static_cast<double>(call.bytes), out.gpus = call.gpus, out.nodes = call.nodes;
  return out;
}

void correct_calls(CollectiveCurve& curve, const EvidenceUse& use) {
  if (use.field == nullptr || curve.single) return;
  std::vector<CallEvidence> evidence;
  bool applies = false;
  for (CollectivePoint& p : curve.points) {
    CallEvidence& here = evidence.emplace_back(CallEvidence{p.time, {}});
    if (!can_be_corrected(p)) continue;
    Observation question = call_observation(call_of_point(curve, p));
    question.source = use.source;
    Estimate e = use.field->at(question);
    if (!is_worth_applying(e, question)) continue;
    correct_point(p, curve, e);
    here.estimate = std::move(e), applies = true;
  }
  if (applies) curve.evidence = std::move(evidence);
}

bool is_corrected(const CollectiveCurve& curve) { return !curve.evidence.empty(); }

}  // namespace foretrain
