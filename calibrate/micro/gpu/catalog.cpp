// The table; and what every measurement is wrapped in.
#include "calibrate/micro/gpu/catalog.hpp"

#include "calibrate/micro/cpu/cpu.hpp"
#include "calibrate/micro/gpu/nccl_child.hpp"

namespace foretrain::micro {

namespace {

struct Row {
  SampleKind kind;
  Measure (*make)(const Session&);
};

constexpr Row kRows[] = {
    {SampleKind::host, host_measure},     {SampleKind::copy, copy_measure},
    {SampleKind::memory, memory_measure}, {SampleKind::gemm, gemm_measure},
    {SampleKind::conv, conv_measure},     {SampleKind::mix, mix_measure},
    {SampleKind::tax, tax_measure},       {SampleKind::collective, collective_measure},
};

/// Made when its first point comes: a library that does not start then costs its own points alone.
Measure made_when_needed(const Session& session, Measure (*make)(const Session&)) {
  return [&session, make, made = std::make_shared<Measure>()](const Point& point, const RepeatRule& rule) {
    if (!*made) *made = make(session);
    return (*made)(point, rule);
  };
}

Measure noting_state(const Session& session, Measure measure) {
  return [&session, measure = std::move(measure)](const Point& point, const RepeatRule& rule) {
    Measured measured = measure(point, rule);
    if (session.nvml != nullptr) measured.observed = session.nvml->state_of(session.device());
    return measured;
  };
}

Measure with_children(const Session& session, const std::vector<Point>& plan, Measure measure) {
  return [&session, measure = std::move(measure), children = NcclChildren(session, plan)](
             const Point& point, const RepeatRule& rule) mutable {
    return point.environment == session.machine.environment ? measure(point, rule)
                                                            : children.measure(point, rule);
  };
}

}  // namespace

Measure measure_of(const FamilyRun& run, const Session& session) {
  if (run.family->kind == SampleKind::cpu) return measure_cpu;
  for (const Row& row : kRows) {
    if (row.kind != run.family->kind) continue;
    Measure measure = noting_state(session, made_when_needed(session, row.make));
    const bool uses_nccl = row.kind == SampleKind::collective || row.kind == SampleKind::tax;
    return uses_nccl ? with_children(session, run.points, std::move(measure)) : measure;
  }
  return nullptr;
}

}  // namespace foretrain::micro
