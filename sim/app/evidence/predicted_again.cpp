// Predicts stored runs again after an update of foretrain. Inputs of one source and kind are predicted
// together, as the file that they came from was. The result is cached under the version and a hash of the
// inputs' text, so that rows that are added later do not invalidate the cache of older ones.
#include "sim/app/evidence/predicted_again.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/analysis/evidence/observed.hpp"
#include "sim/analysis/explanation/explanation.hpp"
#include "sim/analysis/explanation/job_observation.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/evidence/measured_step.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

using Kind = EvidenceInput::Kind;

/// The fields of a row that stay the same from version to version. Texts are compared in the form of
/// printable(), as a store keeps them.
using RowKey = std::tuple<Observed, std::string, std::string, double, int, int>;
RowKey key_of(const Observation& row) {
  return {row.what, row.source, printable(row.run), row.size, row.gpus, row.nodes};
}

/// Returns the inputs of runs that are stale, in the order of the store.
std::vector<EvidenceInput> inputs_of(const std::vector<Observation>& stale,
                                     const std::vector<EvidenceInput>& inputs) {
  std::set<std::string> runs;
  for (const Observation& row : stale) runs.insert(row.run);
  std::vector<EvidenceInput> out;
  for (const EvidenceInput& input : inputs)
    if (runs.contains(printable(input.run()))) out.push_back(input);
  return out;
}

/// Returns $XDG_CACHE_HOME/foretrain or ~/.cache/foretrain; empty when there is no home.
std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return std::string(cache) + "/foretrain";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/foretrain";
}

/// Returns the cache file for these inputs; empty when there is no place for one.
std::string cache_file(const std::vector<EvidenceInput>& inputs) {
  std::uint64_t hash = content_hash(FORETRAIN_VERSION);
  for (const EvidenceInput& input : inputs) hash = content_hash(input_line(input), hash);
  const std::string folder = cache_folder();
  return folder.empty() ? "" : fmt::format("{}/evidence-{}-{:016x}.csv", folder, FORETRAIN_VERSION, hash);
}

// Comment line of a cache that names a run which cannot be predicted.
constexpr std::string_view kProblem = "# cannot be predicted: ";

/// Returns the texts of all such lines.
std::vector<std::string> problems_in(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = text.find(kProblem); at != std::string_view::npos; at = text.find(kProblem, at)) {
    at += kProblem.size();
    out.emplace_back(text.substr(at, text.find('\n', at) - at));
  }
  return out;
}

/// Reads the cache. Returns false when it is missing or damaged; the caller then predicts and writes it
/// again.
bool read_cache(const std::string& file, PredictedAgain& out) {
  std::error_code none;
  if (file.empty() || !fs::is_regular_file(file, none)) return false;
  try {
    const SourceText text = read_text_file(file, kLargestEvidence);
    EvidenceTable table;
    const bool is_torn = read_or_throw(text, [&table](const SourceText& source, Diagnostics& diagnostics) {
      return read_evidence(source, diagnostics, table);
    });
    out = {table.observations(), problems_in(text.text)};
    // An incomplete last row means that writing it was interrupted.
    return !is_torn;
  } catch (const InputError&) {
  } catch (const EnvironmentError&) {
  }
  return false;
}

/// Writes the cache. Errors are ignored: without a cache the next command only predicts the rows again.
void write_cache(const std::string& file, const PredictedAgain& again) {
  if (file.empty()) return;
  std::string text = evidence_heading();
  for (const std::string& problem : again.problems)
    text += fmt::format("{}{}\n", kProblem, printable(problem));
  for (const Observation& row : again.rows) text += evidence_line(row);
  std::error_code none;
  fs::create_directories(fs::path(file).parent_path(), none);
  try {
    write_whole_file(file, text);
  } catch (const EnvironmentError&) {
  }
}

/// Predicts one finished job again from its stored input. Throws InputError when it is not possible.
Observation predicted_job(const JobInput& input) {
  ScenarioOverrides overrides;
  overrides.gpus = {input.gpus};
  Scenario scenario = read_scenario(input.scenario, overrides);
  if (input.spread_nodes > 0) scenario.layout = Layout::spread, scenario.cluster.nodes = input.spread_nodes;
  // Rows with [measured] come from a value that a user recorded, not from the accounting.
  if (scenario.anchor) {
    Observation row = measured_step_row(std::move(scenario));
    row.run = input.run, row.source = input.source, row.version = FORETRAIN_VERSION;
    return row;
  }
  const Prediction prediction = predict(scenario);
  const auto point = std::ranges::find(prediction.points, input.gpus, &PredictionPoint::gpus);
  if (point == prediction.points.end())
    throw InputError(fmt::format("nothing is predicted for {}", counted(input.gpus, "GPU")));
  // The job as observation_of() needs it: an id, a state and an elapsed time.
  FinishedJob job;
  // The run is named "job ID"; the id stands behind the first four characters.
  job.id = input.run.substr(std::min<std::size_t>(input.run.size(), 4));
  job.state.emplace().value = JobState::completed;
  job.elapsed_s.emplace().value = input.elapsed_s;
  JobObservation measured = observation_of(job, {prediction, *point, 0, ""}, scenario);
  if (!measured.row) throw InputError(measured.why_not);
  measured.row->run = input.run, measured.row->source = input.source,
  measured.row->version = FORETRAIN_VERSION;
  return *measured.row;
}

/// Predicts the inputs of one group, which all have the same kind and source.
std::vector<Observation> predicted(const std::vector<EvidenceInput>& group, const Progress& progress) {
  if (group.front().kind == Kind::job) {
    std::vector<Observation> rows;
    for (const EvidenceInput& input : group) rows.push_back(predicted_job(job_of(input)));
    return rows;
  }
  ObservationOptions options{FORETRAIN_VERSION, group.front().source(), {}};
  options.jobs = true;
  return evidence_of(measurements_of(group), options, progress).rows;
}

/// Collects rows that are predicted again, and shows the progress.
class Again {
 public:
  explicit Again(PredictedAgain& out) : out_(out), progress_("predicting again what another version had") {}

  /// Predicts all inputs: first each group as a whole, which is faster, then a failed group run by run.
  void add_all(const std::vector<EvidenceInput>& inputs) {
    std::map<std::pair<Kind, std::string>, std::vector<EvidenceInput>> groups;
    for (const EvidenceInput& input : inputs)
      // A job is a group of its own.
      groups[{input.kind, input.source() + (input.kind == Kind::job ? "\n" + input.run() : "")}].push_back(
          input);
    for (const auto& [kind, group] : groups)
      if (!add(group)) add_by_runs(group);
  }

 private:
  /// Predicts one group. Returns false, with the reason in `why_`, when it cannot be predicted as a whole.
  bool add(const std::vector<EvidenceInput>& group) {
    try {
      const auto rows = predicted(group, [this](double done) { progress_.show(done); });
      out_.rows.insert(out_.rows.end(), rows.begin(), rows.end());
      return true;
    } catch (const InputError& error) {
      why_ = error.first_message();
      return false;
    }
  }

  /// Predicts a group run by run, so that one wrong run does not take the others with it.
  void add_by_runs(const std::vector<EvidenceInput>& group) {
    std::map<std::string, std::vector<EvidenceInput>> runs;
    for (const EvidenceInput& input : group) runs[input.run()].push_back(input);
    for (const auto& [run, inputs] : runs)
      if (!add(inputs)) out_.problems.push_back(fmt::format("{}: {}", printable(run), why_));
  }

  PredictedAgain& out_;
  ProgressLine progress_;
  std::string why_;
};

}  // namespace

// Inputs of stale runs alone are predicted. The cache holds their results, whichever rows are asked for
// later.
PredictedAgain predict_again(const std::vector<Observation>& stale,
                             const std::vector<EvidenceInput>& inputs) {
  PredictedAgain out;
  const std::vector<EvidenceInput> needed = inputs_of(stale, inputs);
  if (needed.empty()) return out;
  const std::string cache = cache_file(needed);
  if (!read_cache(cache, out)) {
    out = {};
    Again(out).add_all(needed);
    write_cache(cache, out);
  }
  // Inputs may yield more rows than were stale; only replacements of stale rows are returned.
  std::set<RowKey> wanted;
  for (const Observation& row : stale) wanted.insert(key_of(row));
  std::erase_if(out.rows, [&wanted](const Observation& row) { return !wanted.contains(key_of(row)); });
  return out;
}

}  // namespace foretrain
