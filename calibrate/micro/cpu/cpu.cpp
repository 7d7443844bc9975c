// The table of the family, and what processor it is.
#include "calibrate/micro/cpu/cpu.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

#include "calibrate/micro/plan/outcome.hpp"

namespace foretrain::micro {

Measured measure_cpu(const Point& point, const RepeatRule& rule) {
  struct Row {
    std::string_view what;
    Measured (*measure)(const Point&, const RepeatRule&);
  };
  constexpr Row kRows[] = {{"memcpy", measure_memcpy},
                           {"decode", measure_decode},
                           {"python_loop", measure_python},
                           {"torch_dispatch", measure_python}};
  for (const Row& row : kRows) {
    if (row.what == point.sample.what) return row.measure(point, rule);
  }
  throw PointSkipped(fmt::format("no measurement is called {}", point.sample.what));
}

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

Settings cpu_provenance() {
  std::ifstream stream("/proc/cpuinfo");
  std::string line, name = "unknown";
  while (std::getline(stream, line)) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
  return {{"cpu", name}, {"cpus", std::to_string(usable_cpus())}};
}

double run_together(int threads, const std::function<void(int)>& work) {
  using Moment = std::chrono::steady_clock::time_point;
  Moment begin;
  std::barrier start(threads, [&]() noexcept { begin = std::chrono::steady_clock::now(); });
  std::vector<Moment> ends(static_cast<std::size_t>(threads));
  const auto run = [&](int thread) {
    start.arrive_and_wait();
    work(thread);
    ends[static_cast<std::size_t>(thread)] = std::chrono::steady_clock::now();
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  others.clear();
  return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) - begin).count();
}

}  // namespace foretrain::micro
