// Runs dispatch.py, which is part of the program, with the machine's Python: it prints microseconds, one
// repeat a line.
#include "calibrate/micro/plan/python.hpp"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "calibrate/micro/cpu/cpu.hpp"
#include "calibrate/micro/cpu/dispatch_script.hpp"
#include "calibrate/micro/plan/child.hpp"
#include "calibrate/micro/plan/outcome.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain::micro {

namespace {

std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    double number = 0;
    const auto [rest, problem] = std::from_chars(text.data(), text.data() + end, number);
    if (problem == std::errc{} && rest == text.data() + end && number > 0) numbers.push_back(number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

std::string own_python() {
  return python_program([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace

bool has_python() {
  constexpr double kTimeout = 20;
  try {
    return run_child({own_python(), "-c", "pass"}, {}, kTimeout).exit_code == 0;
  } catch (const EnvironmentError&) {
    return false;
  }
}

Measured measure_python(const Point& point, const RepeatRule& rule) {
  constexpr double kImportSeconds = 120;  // of torch from a shared file system
  const std::string script(kDispatchScript);
  const ChildResult result =
      run_child({own_python(), "-c", script, point.sample.what, fmt::format("{:.3f}", rule.seconds)}, {},
                kImportSeconds + rule.seconds);
  std::vector<double> seconds;
  for (const double us : numbers_in(result.output)) seconds.push_back(us * 1e-6);
  if (!seconds.empty() && result.exit_code == 0) return {summarize(seconds), {}};
  const std::string said = result.output.substr(0, result.output.find('\n'));
  throw PointSkipped(said.empty() ? fmt::format("{} ended with code {}", own_python(), result.exit_code)
                                  : said);
}

}  // namespace foretrain::micro
