// The child is this program with --points: the points it shall measure stand in a samples file, with values
// that mean nothing.
#include "calibrate/micro/gpu/nccl_child.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "calibrate/micro/plan/child.hpp"
#include "calibrate/micro/plan/sample_store.hpp"

namespace foretrain::micro {

namespace {

constexpr double kConnectSeconds = 3, kMostSecondsBeyond = 120;

std::string text_of(const Settings& environment) {
  std::string text;
  for (const auto& [name, value] : environment) text += fmt::format("{}={} ", name, value);
  return text;
}

/// Those with the same variables, as samples.
std::vector<Sample> points_like(const std::vector<Point>& plan, const Settings& environment) {
  std::vector<Sample> samples;
  for (const Point& point : plan) {
    if (point.environment != environment) continue;
    samples.push_back(point.sample);
    samples.back().value = 1;
  }
  return samples;
}

/// Removes a file at the end of a scope.
struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const char* what)
      : path((std::filesystem::temp_directory_path() / fmt::format("foretrain-{}-{}.csv", what, ::getpid()))
                 .string()) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

/// A child's value back in seconds, or the share itself.
Measured measured_of(const Sample& sample) {
  Measured measured{
      {sample.unit == SampleUnit::us ? sample.value * 1e-6 : sample.value, sample.spread, sample.repeats},
      {}};
  for (const char* key : {"clock_mhz", "temperature_c"}) {
    if (const std::string_view value = setting_of(sample, key); !value.empty())
      measured.observed.emplace_back(key, value);
  }
  return measured;
}

}  // namespace

Measured NcclChildren::measure(const Point& point, const RepeatRule& rule) {
  const std::string variables = fmt::format(
      "{}{}", kSampleKindNames[static_cast<std::size_t>(point.sample.kind)], text_of(point.environment));
  if (finished_.insert(variables).second) run(point, rule);
  const auto at = found_.find(key_of(point.sample));
  if (at != found_.end()) return measured_of(at->second);
  const std::string& why = why_[text_of(point.environment)];
  throw PointSkipped(why.empty()
                         ? fmt::format("not measured with {}: NCCL does not do it here, or the time was over",
                                       text_of(point.environment))
                         : why);
}

void NcclChildren::run(const Point& first, const RepeatRule& rule) {
  const TemporaryFile wanted("points"), found("found");
  const std::vector<Sample> points = points_like(plan_, first.environment);
  write_store(wanted.path, {}, points);
  const double budget = kConnectSeconds + rule.seconds * static_cast<double>(points.size());
  const std::string family(kSampleKindNames[static_cast<std::size_t>(first.sample.kind)]);
  const ChildResult result =
      run_child({session_->program, "--only", family, "--points", wanted.path, "--no-children", "--fresh",
                 "-o", found.path, "--budget", fmt::format("{:.3f}s", budget)},
                first.environment, budget + kMostSecondsBeyond);
  for (const Sample& sample : read_store(found.path).samples) found_[key_of(sample)] = sample;
  if (result.exit_code != 0)
    why_[text_of(first.environment)] =
        fmt::format("a process with {}ended with code {}", text_of(first.environment), result.exit_code);
}

}  // namespace foretrain::micro
