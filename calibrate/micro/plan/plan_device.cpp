// Points of one GPU and its copies: host work, memory-bound kernels, copies by size, pair and number at once.
#include <algorithm>

#include <fmt/format.h>

#include "calibrate/micro/plan/plans.hpp"

namespace foretrain::micro {

namespace {

constexpr std::int64_t kLarge = 64 * kMi;  ///< where copies have long reached their bandwidth
constexpr int kMostPairs = 8;              ///< GPUs of which every pair is measured

Point host_point(std::string what, int rank, Settings settings = {}) {
  Point point;
  point.sample.kind = SampleKind::host;
  point.sample.what = std::move(what);
  point.sample.settings = std::move(settings);
  point.rank = rank;
  return point;
}

Point copy_point(std::string what, int gpus, Rung rung, Settings settings) {
  Point point;
  point.sample.kind = SampleKind::copy;
  point.sample.what = std::move(what);
  point.sample.gpus = gpus;
  point.sample.bytes = rung.size;
  point.sample.settings = std::move(settings);
  point.rank = rung.rank;
  return point;
}

/// Both directions between the host and GPU 0 at every size, and every other GPU at one.
void plan_host_copies(const Machine& machine, std::vector<Point>& points) {
  for (const auto& [what, end] : {std::pair{"h2d", "dst"}, std::pair{"d2h", "src"}}) {
    for (const Rung rung : ladder(kKi, 256 * kMi, 4))
      points.push_back(copy_point(what, 1, rung, {{"memory", "pinned"}, {end, "0"}}));
    for (const Rung rung : ladder(kKi, kLarge, 16))
      points.push_back(copy_point(what, 1, {rung.size, rung.rank + 2}, {{"memory", "pageable"}, {end, "0"}}));
    for (int gpu = 1; gpu < machine.gpu_count(); ++gpu)
      points.push_back(copy_point(what, 1, {kLarge, 2}, {{"memory", "pinned"}, {end, std::to_string(gpu)}}));
  }
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu)
    points.push_back(copy_point("h2d", 1, {kLarge, 2},
                                {{"memory", "pinned"}, {"dst", std::to_string(gpu)}, {"both_ways", "1"}}));
}

/// Two GPUs at once, every pair, and all at once: what they share above them shows.
void plan_copies_together(const Machine& machine, std::vector<Point>& points) {
  const int gpus = machine.gpu_count();
  std::string all = "0";
  for (int gpu = 1; gpu < gpus; ++gpu) all += fmt::format("+{}", gpu);
  for (const auto& [what, end] : {std::pair{"h2d", "dst"}, std::pair{"d2h", "src"}}) {
    if (gpus > 2)
      points.push_back(copy_point(what, gpus, {kLarge, 1},
                                  {{"memory", "pinned"}, {end, all}, {"together", std::to_string(gpus)}}));
    for (int a = 0; a < std::min(gpus, kMostPairs); ++a) {
      for (int b = a + 1; b < std::min(gpus, kMostPairs); ++b)
        points.push_back(
            copy_point(what, 2, {kLarge, 4},
                       {{"memory", "pinned"}, {end, fmt::format("{}+{}", a, b)}, {"together", "2"}}));
    }
  }
}

void plan_peer_copies(const Machine& machine, std::vector<Point>& points) {
  const int gpus = std::min(machine.gpu_count(), 2 * kMostPairs);
  if (gpus < 2) return;
  const auto ends = [](int a, int b) {
    return Settings{{"src", std::to_string(a)}, {"dst", std::to_string(b)}, {"engine", "ce"}};
  };
  const auto with = [](Settings settings, std::string key, std::string value) {
    settings.emplace_back(std::move(key), std::move(value));
    return settings;
  };
  for (const Rung rung : ladder(kKi, 256 * kMi, 4)) points.push_back(copy_point("p2p", 2, rung, ends(0, 1)));
  for (int a = 0; a < gpus; ++a) {
    for (int b = 0; b < gpus; ++b) {
      if (a == b || (a > 0 && gpus > kMostPairs)) continue;
      if (a != 0 || b != 1) points.push_back(copy_point("p2p", 2, {kLarge, 2}, ends(a, b)));
      if (a != 0 || b != 1) points.push_back(copy_point("p2p", 2, {kKi, 4}, ends(a, b)));
      if (a < b) points.push_back(copy_point("p2p", 2, {kLarge, 3}, with(ends(a, b), "both_ways", "1")));
      if (a == 0) points.push_back(copy_point("p2p", 2, {kLarge, 5}, with(ends(a, b), "peer", "0")));
    }
  }
}

}  // namespace

std::vector<Point> plan_host(const Machine&) {
  std::vector<Point> points{host_point("launch_latency", 0), host_point("launch_gap", 0),
                            host_point("enqueue", 0), host_point("event", 1), host_point("copy_call", 1)};
  points.back().sample.bytes = 4096;  // of copy_call
  for (const char* wait : {"spin", "block"}) points.push_back(host_point("sync_wake", 1, {{"wait", wait}}));
  for (const Rung rung : ladder(1, 1000, 10)) {
    points.push_back(host_point("graph_launch", rung.rank + 1, {{"kernels", std::to_string(rung.size)}}));
    points.push_back(host_point("graph_kernel", rung.rank + 1, {{"kernels", std::to_string(rung.size)}}));
  }
  sort_by_rank(points);
  return points;
}

std::vector<Point> plan_memory(const Machine&) {
  std::vector<Point> points;
  const std::int64_t smallest =
      192 * kKi;  // a multiple of the 4, 8 and 12 bytes an element of reduce, copy and add takes
  for (const Rung rung : ladder(smallest, smallest << 12, 4)) {
    for (const char* what : {"copy", "add", "reduce"}) {
      Point point;
      point.sample.kind = SampleKind::memory;
      point.sample.what = what;
      point.sample.bytes = rung.size;
      point.rank = rung.rank;
      points.push_back(std::move(point));
    }
  }
  sort_by_rank(points);
  return points;
}

std::vector<Point> plan_copy(const Machine& machine) {
  std::vector<Point> points;
  plan_host_copies(machine, points);
  for (const Rung rung : ladder(64 * kKi, kLarge * 16, 16))
    points.push_back(copy_point("d2d", 1, rung, {{"src", "0"}, {"dst", "0"}}));
  plan_peer_copies(machine, points);
  plan_copies_together(machine, points);
  sort_by_rank(points);
  return points;
}

}  // namespace foretrain::micro
