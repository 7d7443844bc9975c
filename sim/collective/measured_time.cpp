// A measured time replaces the sum of the modelled parts, which keep their shares.
#include "sim/collective/measured_time.hpp"

#include <algorithm>
#include <cctype>

namespace foretrain {

namespace {

/// Ratio by which host times of launches differ from run to run. A collective within this factor of its
/// launches may be hidden behind them.
constexpr double kLaunchNoise = 1.3;

/// Compares without regard to case.
bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Returns whether the measured job had the same forced algorithm and protocol.
bool is_forced_alike(const CalibratedCollective& measured, const nccl::Settings& settings) {
  return is_same(measured.algorithm, settings.algorithm ? nccl::name_of(*settings.algorithm) : "") &&
         is_same(measured.protocol, settings.protocol ? name_of(*settings.protocol) : "");
}

/// Multiplies all times of the plan.
void scale(CollectivePlan& plan, double factor) {
  for (Time* part : {&plan.latency, &plan.alone, &plan.hidden, &plan.timing.start, &plan.timing.steps,
                     &plan.timing.fill, &plan.timing.data, &plan.timing.last})
    *part = seconds(to_seconds(*part) * factor);
  plan.stretch *= factor;
}

}  // namespace

const CalibratedCollective* find_measured(const Calibration& calibration, CollectiveOp op,
                                          const MeasuredCommunicator& job) {
  const int processes = processes_of(job.settings->processes_per_node, job.ranks_per_node);
  const CalibratedCollective* best = nullptr;
  for (const CalibratedCollective& measured : calibration.collectives) {
    if (measured.op != name_of(op) || measured.gpus != job.ranks || measured.nodes != job.nodes ||
        measured.segments.empty())
      continue;
    if (!is_forced_alike(measured, job.settings->nccl)) continue;
    if (processes_of(measured.processes_per_node, job.ranks_per_node) == processes) return &measured;
    if (best == nullptr) best = &measured;
  }
  return best;
}

double measured_seconds(const CalibratedCollective& measured, double bytes) {
  const std::vector<TimeSegment>& all = measured.segments;
  const auto at = [](const TimeSegment& segment, double size) {
    return segment.latency_s + size * segment.seconds_per_byte;
  };
  // Segments ascend: the first one that reaches the size is the one to use, or the one after a gap.
  const auto next =
      std::ranges::find_if(all, [&](const TimeSegment& segment) { return bytes <= segment.most; });
  if (next == all.end()) return at(all.back(), bytes);
  if (bytes >= next->least || next == all.begin()) return at(*next, bytes);
  const TimeSegment& before = *std::prev(next);
  const double share = (bytes - before.most) / (next->least - before.most);
  return (1 - share) * at(before, before.most) + share * at(*next, next->least);
}

void settle(CollectivePlan& plan, double measured, const MeasuredLaunches& launches) {
  const double modelled = to_seconds(plan.occupied()), of_launches = to_seconds(launches.time);
  const bool hidden =
      measured <= of_launches || (modelled <= of_launches && measured <= kLaunchNoise * of_launches);
  if (launches.own && (hidden || measured < to_seconds(plan.launch))) plan.launch = seconds(measured);
  if (modelled > 0 && (!hidden || modelled > measured)) scale(plan, measured / modelled);
}

}  // namespace foretrain
