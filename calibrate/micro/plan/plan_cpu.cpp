// Points of the host's own work: memcpy and decoding by threads, what a line of Python costs.
#include <set>

#include "calibrate/micro/plan/plans.hpp"

namespace foretrain::micro {

namespace {

Point cpu_point(const char* what, int threads, int rank) {
  Point point;
  point.sample.kind = SampleKind::cpu;
  point.sample.what = what;
  point.sample.gpus = 0;
  point.sample.settings = {{"threads", std::to_string(threads)}};
  point.rank = rank;
  return point;
}

std::set<int> thread_counts(int cpus) {
  std::set<int> counts{1, cpus};
  for (int count = 2; count < cpus; count *= 2) counts.insert(count);
  return counts;
}

}  // namespace

std::vector<Point> plan_cpu(const Machine& machine) {
  std::vector<Point> points;
  if (machine.has_python) {
    for (const char* what : {"python_loop", "torch_dispatch"}) points.push_back(cpu_point(what, 1, 0));
  }
  for (const Rung rung : ladder(4096, 64 << 20, 4)) {
    points.push_back(cpu_point("memcpy", 1, rung.rank));
    points.back().sample.bytes = rung.size;
  }
  for (const int threads : thread_counts(machine.cpus)) {
    points.push_back(cpu_point("decode", threads, threads == 1 || threads == machine.cpus ? 0 : 2));
    points.back().sample.unit = SampleUnit::per_s;
    points.back().amount = 1;
    if (threads == 1) continue;
    points.push_back(cpu_point("memcpy", threads, 2));
    points.back().sample.bytes = 64 << 20;
  }
  sort_by_rank(points);
  return points;
}

}  // namespace foretrain::micro
