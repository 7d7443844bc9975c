// A strategy is the same job wherever it is asked for: compare, a study and a sweep predict what `predict
// --strategy` predicts, whatever the scenario says in its other sections.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/study.hpp"
#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/scenario/study_options.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"

namespace compared_job_laws {

using namespace foretrain;

namespace {

/// More with FORETRAIN_JOBS=2000, which takes some minutes.
int jobs_to_draw() {
  const char* asked = std::getenv("FORETRAIN_JOBS");
  return asked == nullptr ? 60 : std::max(1, std::atoi(asked));
}

/// What the test asks for itself, what compares something else, and a table of a length of its own.
bool is_drawn(const std::string& key) {
  for (const std::string_view other :
       {"model.name", "cluster.name", "strategy.name", "parallel.", "study.", "run.gpus", "measured.",
        "framework.name", "run.every", "cluster.nodes"})
    if (key.starts_with(other)) return false;
  return true;
}

struct DrawnJob {
  SourceText file;
  ScenarioOverrides overrides;
  std::string text;  ///< of both, for messages
  std::vector<std::string> strategies;
  int gpus = 1;
};

class JobMaker {
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class List>
  auto one_of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 public:
  explicit JobMaker(std::uint64_t seed) : random_(seed) {
    for (const ScenarioKey& key : scenario_keys())
      if (is_drawn(key.name)) keys_.push_back(&key);
  }

  DrawnJob draw() {
    DrawnJob job;
    static constexpr std::array<std::string_view, 4> kModels{"mnist_net", "resnet18", "bert_base",
                                                             "spiral_mlp"};
    static constexpr std::array<std::string_view, 4> kClusters{"mahti", "two-generations", "puhti", "raven"};
    std::map<std::string, std::string> lines{{"model.name", quoted(one_of(kModels))},
                                             {"cluster.name", quoted(one_of(kClusters))},
                                             {"strategy.name", quoted(random_strategy())}};
    if (lines["cluster.name"] != "\"two-generations\"") lines["cluster.nodes"] = "3";
    if (one_in(3)) lines["framework.name"] = one_in(2) ? "\"pytorch\"" : "\"tensorflow\"";
    if (one_in(3)) lines["measured.step"] = one_in(2) ? "\"3 ms\"" : "\"60 ms\"";
    for (int i = 0, count = below(6); i < count; ++i) add_line(lines);
    if (one_in(2)) lines["launch." + machine_key().first] = machine_key_value_;
    for (const auto& [key, value] : lines) job.file.text += fmt::format("{} = {}\n", key, value);
    job.file.name = "job.toml";
    for (int i = 0, count = below(3); i < count; ++i) {
      const ScenarioKey& key = *keys_[static_cast<std::size_t>(below(static_cast<int>(keys_.size())))];
      job.overrides.settings.push_back(key.name + "=" + key.example);
    }
    static constexpr std::array<int, 6> kGpus{1, 2, 3, 4, 6, 8};
    job.gpus = one_of(kGpus);
    if (one_in(4)) job.overrides.batch = 1 + below(64);
    job.strategies = {random_strategy(), random_strategy()};
    if (job.strategies[0] == job.strategies[1]) job.strategies.pop_back();
    job.text = job.file.text;
    for (const std::string& setting : job.overrides.settings) job.text += "--set " + setting + "\n";
    job.text += fmt::format("--gpus {}{}", job.gpus,
                            job.overrides.batch ? fmt::format(" --batch {}", *job.overrides.batch) : "");
    return job;
  }

 private:
  static std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }
  std::string random_strategy() { return std::string(one_of(strategy_catalog()).name); }

  void add_line(std::map<std::string, std::string>& lines) {
    const ScenarioKey& key = *one_of(keys_);
    for (const auto& [name, value] : lines)
      if (name.starts_with(key.name + ".") || key.name.starts_with(name + ".")) return;
    lines[key.name] = key.example;
  }

  /// What of [launch] belongs to the machine is drawn more often than the rest.
  std::pair<std::string, std::string> machine_key() {
    static const std::vector<std::pair<std::string, std::string>> kKeys{
        {"isolation", "\"pod\""},    {"slow_gpus", "[{ node = 0, gpu = 1, clock = 0.5 }]"},
        {"exclude", "[0]"},          {"slow_draw", "{ share = 0.3, clock = 0.7 }"},
        {"processes_per_node", "1"}, {"with", "\"srun\""}};
    const auto& chosen = kKeys[static_cast<std::size_t>(below(static_cast<int>(kKeys.size())))];
    machine_key_value_ = chosen.second;
    return chosen;
  }

  std::mt19937_64 random_;
  std::vector<const ScenarioKey*> keys_;
  std::string machine_key_value_;
};

/// What every door says of a strategy on some GPUs.
struct Told {
  std::string why_not;
  PredictionPoint point;
};

Told told_by_predict(const DrawnJob& job, const std::string& strategy) {
  ScenarioOverrides overrides = job.overrides;
  overrides.strategy = strategy, overrides.gpus = {job.gpus};
  // To predict, an option of another strategy is a mistake; several strategies each take their own.
  std::erase_if(overrides.settings, [&](const std::string& setting) {
    return !is_option_of(strategy, std::string_view(setting).substr(0, setting.find('=')));
  });
  try {
    const Prediction prediction = predict(read_scenario(job.file, overrides));
    return {{}, prediction.points.back()};
  } catch (const InputError& error) {
    return {error.first_message(), {}};
  }
}

void check_same(const std::string& door, const Told& predicted, const std::string& why_not,
                const PredictionPoint& point) {
  INFO(door << ": predict: \"" << predicted.why_not << "\", here: \"" << why_not << "\"");
  CHECK(predicted.why_not.empty() == why_not.empty());
  if (!predicted.why_not.empty() || !why_not.empty()) return;
  CHECK(point.step_s == Approx(predicted.point.step_s).epsilon(1e-9));
  CHECK(point.samples_per_s == Approx(predicted.point.samples_per_s).epsilon(1e-9));
  CHECK(point.epoch_s == Approx(predicted.point.epoch_s).epsilon(1e-9));
  CHECK(point.total_s == Approx(predicted.point.total_s).epsilon(1e-9));
  CHECK(point.memory.total() == predicted.point.memory.total());
  CHECK(point.nodes == predicted.point.nodes);
  CHECK(point.global_batch == predicted.point.global_batch);
}

/// Empty when the scenario is wrong by itself or none of the strategies runs.
std::optional<Comparison> compared(const DrawnJob& job) {
  ScenarioOverrides overrides = job.overrides;
  overrides.gpus = {job.gpus};
  try {
    read_scenario(job.file, {});
    return compare(read_compared(job.file, overrides, strategies_named(job.strategies)));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void check_sweep(const DrawnJob& job, const std::string& strategy, const Told& predicted) {
  // A sweep takes no settings: they stand in its scenario.
  if (!job.overrides.settings.empty() || job.overrides.batch) return;
  const SweptScenario swept = swept_scenario(job.file);
  CasePredictor predictor(swept);
  const SourceSpan nowhere;
  const std::vector<StudySetting> settings{{"strategy.name", {strategy, nowhere}, nowhere}};
  try {
    const CaseResult result = predictor.predict(settings, {job.gpus}).front();
    check_same("sweep", predicted, result.why_not, result.point);
  } catch (const InputError& error) {
    check_same("sweep", predicted, error.first_message(), {});
  }
}

/// The same strategies as an axis of a study.
void check_study(const DrawnJob& job, const std::vector<ComparedStrategy>& rows) {
  ScenarioOverrides overrides = job.overrides;
  overrides.gpus = {job.gpus};
  std::string names;
  for (const ComparedStrategy& row : rows)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", row.strategy);
  overrides.settings.push_back(fmt::format("study.strategy=[{}]", names));
  std::optional<StudyQuestion> study;
  try {
    study = read_study(job.file, overrides, read_scenario(job.file, overrides));
  } catch (const InputError&) {
    return;  // the settings do not suit the scenario as it stands
  }
  try {
    const StudyResult result = run_study(*study);
    for (const StudyRow& row : result.rows) {
      const std::string strategy = text_of(row.values.front());
      INFO("strategy " << strategy);
      check_same("study", told_by_predict(job, strategy), row.why_not, row.point);
    }
  } catch (const InputError& error) {
    // None of the combinations runs.
    INFO("study: " << error.what());
    for (const ComparedStrategy& row : rows) CHECK_FALSE(told_by_predict(job, row.strategy).why_not.empty());
  }
}

}  // namespace

TEST_CASE(
    "compare, studies and sweeps predict of every strategy what predict does, whatever the other sections "
    "say") {
  JobMaker maker(20261126);
  int checked = 0, drawn = 0;
  for (const int wanted = jobs_to_draw(); checked < wanted && drawn < 100 * wanted; ++drawn) {
    const DrawnJob job = maker.draw();
    const std::optional<Comparison> comparison = compared(job);
    if (!comparison) continue;
    ++checked;
    INFO(job.text);
    for (const ComparedStrategy& row : comparison->numbers.back().strategies) {
      const Told predicted = told_by_predict(job, row.strategy);
      INFO("strategy " << row.strategy);
      check_same("compare", predicted, row.why_not, row.point);
      check_sweep(job, row.strategy, predicted);
    }
    check_study(job, comparison->numbers.back().strategies);
  }
  CHECK(checked == jobs_to_draw());
}

}  // namespace compared_job_laws
