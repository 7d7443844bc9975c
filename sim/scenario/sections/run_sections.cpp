// The tables [run] and [measured]. Defaults that depend on the cluster, and keys that exclude each other, are
// handled after the declared keys.
#include "sim/scenario/sections/run_sections.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/sections/model_section.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Default rate at which a checkpoint is written: one stream of torch.save to a parallel file system.
constexpr ByteRate kCheckpointBandwidth{1e9};
/// Upper limits of the numbers of GPUs in a list, and of the tables of [run.every].
constexpr std::size_t kLongestList = 4096, kMostPeriodic = 100;

/// Checks that periodic work has exactly one length: a duration, a pass over samples, or a file written. A
/// checkpoint is written by default.
void check_kind(TableReader& reader, Periodic& periodic) {
  std::vector<std::string> given;
  for (const char* key : {"duration", "samples", "bandwidth"}) {
    if (reader.has(key)) given.emplace_back(key);
  }
  // A checkpoint without a length is written at the default rate.
  if (given.empty() && periodic.name == "checkpoint") periodic.bandwidth = kCheckpointBandwidth;
  if (given.empty() && periodic.name != "checkpoint")
    reader.require("duration", "duration = \"30 s\", or samples = 50_000 for a forward pass over them");
  if (given.size() > 1) {
    reader.report(reader.span_of(given[1]),
                  fmt::format("{} and {} exclude each other", reader.full_name(given[0]), given[1]),
                  "give a duration, samples to pass over, or a bandwidth to write at");
  }
  if (reader.has("batch_per_gpu") && !reader.has("samples"))
    reader.report(reader.span_of("batch_per_gpu"),
                  fmt::format("{} needs samples", reader.full_name("batch_per_gpu")),
                  "how many does it pass over?");
}

/// Reads one table of [run.every].
void read_periodic(TableReader& every, const Entry& entry, Scenario& scenario) {
  const Table* table = every.table(entry.key);
  if (table == nullptr) return;
  TableReader reader(*table, every.full_name(entry.key.substr(0, 60)), every.diagnostics());
  Periodic periodic;
  periodic.name = entry.key;
  read_keys(reader, periodic_keys(), periodic);
  check_kind(reader, periodic);
  reader.finish();
  scenario.periodic.push_back(std::move(periodic));
}

/// Returns default numbers of GPUs: 1, 2, 4, … in the first node, then whole nodes doubling, the end of every
/// kind, and all.
std::vector<int> usual_gpus(const Scenario& scenario) {
  const std::vector<NodeCapacity> nodes = nodes_of_job(scenario);
  std::set<int> out;
  // Inside the first node.
  for (int gpus = 1; gpus < nodes.front().gpus; gpus *= 2) out.insert(gpus);
  int gpus = 0;
  // Whole nodes: powers of two, and the last node of each kind.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    gpus += nodes[i].gpus;
    // A kind ends where the next node is of another kind.
    const bool ends_kind = i + 1 == nodes.size() || kind_of_node(scenario.cluster, nodes[i].node) !=
                                                        kind_of_node(scenario.cluster, nodes[i + 1].node);
    if (ends_kind || std::has_single_bit(i + 1)) out.insert(gpus);
  }
  return {out.begin(), out.end()};
}

/// Returns default numbers of GPUs. For a recorded program they are the numbers on which it was recorded, and
/// those defaults that its recordings can predict.
std::vector<int> usual_gpus_of_training(const Scenario& scenario) {
  if (!scenario.program) return usual_gpus(scenario);
  const std::int64_t fewest = scenario.program->first().world, size = gpus_of_job(scenario);
  std::set<int> out;
  for (const std::int64_t ranks : scenario.program->worlds()) {
    if (ranks <= size) out.insert(static_cast<int>(ranks));
  }
  for (const int gpus : usual_gpus(scenario)) {
    if (gpus >= fewest && scenario.program->facts_on(gpus).why_not.empty()) out.insert(gpus);
  }
  if (out.empty()) out.insert(1);
  return {out.begin(), out.end()};
}

/// Returns the size of the cluster, or of what [launch] leaves of it, in words.
std::string has_only(const Scenario& scenario) {
  const std::string gpus = counted(gpus_of_job(scenario), "GPU");
  if (scenario.launch.nodes_of.empty() && scenario.launch.left_out.empty())
    return fmt::format("cluster {} has {}", scenario.cluster.name, gpus);
  return fmt::format("the nodes that [launch] leaves the job have {}", gpus);
}

/// Reports numbers beyond the cluster at the first of them, because a range beyond it is one mistake.
void report_too_many(TableReader& run, const Scenario& scenario, std::int64_t size,
                     const std::vector<std::int64_t>& gpus, const Array& values) {
  const auto is_too_many = [size](std::int64_t number) { return number > size; };
  const auto first = std::ranges::find_if(gpus, is_too_many);
  if (first == gpus.end()) return;
  const auto count = std::ranges::count_if(gpus, is_too_many);
  const std::string more = count > 1 ? fmt::format("; {} of these numbers are larger", count) : "";
  run.report(values[static_cast<std::size_t>(first - gpus.begin())].span, has_only(scenario) + more);
}

/// Reads run.gpus and checks it against the cluster's size. By default it is 1, 2, 4, … up to one node, then
/// whole nodes doubling up to the cluster.
void read_gpus(TableReader& run, std::string_view key, Scenario& scenario) {
  const std::int64_t size = gpus_of_job(scenario);
  const auto found = run.integers(key, 1, kMostGpus, kLongestList);
  // Defaults need a cluster that could be read.
  if (!run.has(key) && size >= 1 && size <= kMostGpus) scenario.gpus = usual_gpus_of_training(scenario);
  if (!found) return;
  if (found->empty())
    run.report(run.span_of(key), "run.gpus is empty",
               "leave it out to get 1, 2, 4, … up to the whole cluster");
  const auto& values = std::get<Array>(run.value(key)->data);
  if (size > 0) report_too_many(run, scenario, size, *found, values);
  // More GPUs than samples cannot share a global batch.
  for (std::size_t i = 0; i < found->size(); ++i) {
    const std::int64_t gpus = (*found)[i];
    if (gpus > scenario.global_batch.value_or(kMostGpus)) {
      run.report(values[i].span,
                 fmt::format("{} GPUs cannot share a global batch of {}", gpus, *scenario.global_batch));
    }
    scenario.gpus.push_back(static_cast<int>(gpus));
  }
  // The numbers are sorted, and equal ones are removed, since each of them is a line of the table.
  std::sort(scenario.gpus.begin(), scenario.gpus.end());
  scenario.gpus.erase(std::unique(scenario.gpus.begin(), scenario.gpus.end()), scenario.gpus.end());
}

/// Reads run.gpus for a combination of a study: numbers that the cluster or the global batch do not allow are
/// omitted, and at least one GPU stays.
void read_possible_gpus(TableReader& run, std::string_view key, Scenario& scenario) {
  const std::int64_t size = gpus_of_job(scenario);
  const auto found = run.integers(key, 1, kMostGpus, kLongestList);
  // A list that is missing or could not be read gives the usual numbers.
  if (!found && size >= 1 && size <= kMostGpus) scenario.gpus = usual_gpus_of_training(scenario);
  for (const std::int64_t gpus : found.value_or(std::vector<std::int64_t>{})) {
    if (gpus <= size && gpus <= scenario.global_batch.value_or(kMostGpus))
      scenario.gpus.push_back(static_cast<int>(gpus));
  }
  if (scenario.gpus.empty()) scenario.gpus.push_back(1);
  std::sort(scenario.gpus.begin(), scenario.gpus.end());
  scenario.gpus.erase(std::unique(scenario.gpus.begin(), scenario.gpus.end()), scenario.gpus.end());
}

/// Remembers whether the numbers were listed or are defaults.
void read_gpus_of_section(TableReader& run, std::string_view key, RunSection& section) {
  section.scenario.lists_gpus = run.has(key);
  if (section.one_of_a_study)
    read_possible_gpus(run, key, section.scenario);
  else
    read_gpus(run, key, section.scenario);
}

/// Reads all tables of [run.every].
void read_every(TableReader& run, Scenario& scenario) {
  const Table* table = run.table("every");
  if (table == nullptr) return;
  TableReader every(*table, run.full_name("every"), run.diagnostics());
  for (const Entry& entry : table->entries) {
    if (scenario.periodic.size() < kMostPeriodic)
      read_periodic(every, entry, scenario);
    else
      return run.report(entry.key_span, fmt::format("run.every has more than {} entries", kMostPeriodic));
  }
}

/// Returns the measured seconds of a step, from the step, the throughput or the epoch. Processes that train
/// on the same samples count them once.
double step_of(const MeasuredSection& measured, const Scenario& scenario) {
  const int gpus = measured.anchor.gpus;
  // A measured step needs no conversion.
  if (measured.step && to_seconds(*measured.step) > 0) return to_seconds(*measured.step);
  if (gpus > gpus_of_job(scenario)) return 1;  // check_measured() has reported it
  // Throughput counts every sample once.
  if (measured.samples_per_s)
    return static_cast<double>(samples_of_step(scenario, gpus)) / readers_of_a_sample(scenario, gpus) /
           *measured.samples_per_s;
  // An epoch is divided by its steps.
  const std::int64_t steps = std::max<std::int64_t>(1, epoch_steps(scenario, gpus).count());
  return to_seconds(measured.epoch.value_or(Time{})) / static_cast<double>(steps);
}

/// Checks that the GPUs exist, that an epoch has a length, and that exactly one of the three values is given.
void check_measured(TableReader& table, const MeasuredSection& measured, const Scenario& scenario) {
  const std::int64_t size = gpus_of_job(scenario);
  if (size > 0 && measured.anchor.gpus > size) table.report(table.span_of("gpus"), has_only(scenario));
  if (measured.epoch && to_seconds(*measured.epoch) > 0 && scenario.workload.data.samples == 0)
    table.report(table.span_of("epoch"), "measured.epoch needs data.samples",
                 "how many samples has one epoch?");
  std::vector<std::string> given;
  for (const char* key : {"samples_per_s", "step", "epoch"}) {
    if (table.has(key)) given.emplace_back(key);
  }
  if (given.empty()) table.require("samples_per_s", "samples_per_s = 325.95, or step or epoch as a time");
  if (given.size() > 1)
    table.report(table.span_of(given[1]), fmt::format("measured has both {} and {}", given[0], given[1]),
                 "give one of them");
}

}  // namespace

/// Declares the keys of work that repeats: validation, checkpoints and others.
const Keys<Periodic>& periodic_keys() {
  static const Keys<Periodic> keys{
      // Frequency, and three ways to state the length.
      {"epochs", takes::number<&Periodic::every_epochs>(1e-6, 1e6), "1", "1",
       "how often the periodic work happens; the table may have any name"},
      {"duration", takes::time<&Periodic::duration>(), "\"30 s\"", "none",
       "how long it takes each time; one of duration, samples, bandwidth"},
      {"samples", takes::integer<&Periodic::samples>(1, 1'000'000'000'000), "50_000", "none",
       "or: a forward pass over so many samples, shared by all GPUs"},
      {"batch_per_gpu", takes::integer<&Periodic::batch_per_gpu>(1, kLargestBatch), "100", "the training's",
       "of that pass"},
      {"bandwidth", takes::rate<&Periodic::bandwidth>(), "\"1 GBps\"", "none",
       "or: rank 0 writes weights and optimizer state at this rate; a table named checkpoint does so by "
       "default, at 1 GBps"},
  };
  return keys;
}

/// `gpus` needs the cluster; the other keys go straight into the scenario.
const Keys<RunSection>& run_keys() {
  static const Keys<Scenario> lengths{
      {"epochs", takes::number<&Scenario::epochs>(0, 1e6), "90", "1", "epochs of the whole run"},
      {"startup", takes::time<&Scenario::startup>(), "\"60 s\"", "computed",
       "once per run: imports, CUDA, NCCL, compilation, first step; docs/models/step.md"},
  };
  static const Keys<RunSection> keys =
      Keys<RunSection>{{"gpus",
                        {"list of integers", read_gpus_of_section},
                        "[1, 2, 4]",
                        "powers of two in a node, then whole nodes doubling",
                        "the rows of the table"}} +
      keys_within<RunSection>(lengths, [](RunSection& run) -> Scenario& { return run.scenario; });
  return keys;
}

/// One of samples_per_s, step and epoch gives the measured speed.
const Keys<MeasuredSection>& measured_keys() {
  using M = MeasuredSection;
  static const Keys<M> keys{
      // The measured run.
      {"gpus", takes::integer<&M::anchor, &Anchor::gpus>(1, kMostGpus), "1", "1",
       "GPUs of a measured run, to which the model is scaled"},
      {"reused_batch", takes::flag<&M::anchor, &Anchor::reused_batch>(), "true", "false",
       "the measured run trained on one batch again and again (synthetic data): the anchor is fitted without "
       "the input pipeline"},
      // Three ways to state its speed.
      {"samples_per_s", takes::number<&M::samples_per_s>(1e-9, 1e15), "325.95", "none",
       "its throughput over all GPUs; one of samples_per_s, step, epoch"},
      {"step", takes::longer_time<&M::step>(), "\"98 ms\"", "none", "its step time"},
      {"epoch", takes::longer_time<&M::epoch>(), "\"20 min\"", "none", "its epoch time; needs data.samples"},
      {"scales",
       takes::choice<&M::anchor, &Anchor::scales>(std::vector<Choice<AnchorSide>>{
           {"compute", AnchorSide::compute}, {"host", AnchorSide::host}, {"input", AnchorSide::input}}),
       "\"host\"", "what bounds the step", "which part of the model the measurement corrects"},
  };
  return keys;
}

/// [run.every] is read after the keys, because its tables have names of their own.
void read_run(TableReader& run, bool one_of_a_study, Scenario& scenario) {
  RunSection section{scenario, one_of_a_study};
  read_keys(run, run_keys(), section);
  read_every(run, scenario);
}

/// The measurement is converted to the time of a step, whichever way it was stated.
void read_measured(TableReader& table, Scenario& scenario) {
  MeasuredSection measured;
  read_keys(table, measured_keys(), measured);
  check_measured(table, measured, scenario);
  scenario.anchor = measured.anchor;
  scenario.anchor->step_s = step_of(measured, scenario);
}

}  // namespace foretrain
