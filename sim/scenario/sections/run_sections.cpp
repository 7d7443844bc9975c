// [run], [run.every] and [measured]: on how many GPUs and how long, what happens around the steps, and what
// was measured.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/scenario/sections/scenario_sections.hpp"
#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

/// What a checkpoint is written with when nothing is said: one stream of torch.save to a parallel file
/// system.
constexpr ByteRate kCheckpointBandwidth{1e9};

void read_periodic_rate(TableReader& reader, Periodic& periodic) {
  const auto rate = reader.byte_rate("bandwidth");
  if (rate && !(rate->per_second > 0))
    reader.report(reader.span_of("bandwidth"),
                  fmt::format("{} must be more than zero", reader.full_name("bandwidth")));
  periodic.bandwidth = rate.value_or(ByteRate{});
}

/// A duration, a pass over samples, or a file written: one of them. A checkpoint is written by default.
void check_kind(TableReader& reader, Periodic& periodic) {
  std::vector<std::string> given;
  for (const char* key : {"duration", "samples", "bandwidth"}) {
    if (reader.has(key)) given.emplace_back(key);
  }
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

void read_periodic(TableReader& every, const Entry& entry, Scenario& scenario) {
  const Table* table = every.table(entry.key);
  if (table == nullptr) return;
  TableReader reader(*table, every.full_name(entry.key.substr(0, 60)), every.diagnostics());
  Periodic periodic;
  periodic.name = entry.key;
  keep(reader.number("epochs", 1e-6, 1e6), periodic.every_epochs);
  periodic.duration = reader.time("duration");
  keep(reader.integer("samples", 1, 1'000'000'000'000), periodic.samples);
  keep(reader.integer("batch_per_gpu", 1, kLargestBatch), periodic.batch_per_gpu);
  read_periodic_rate(reader, periodic);
  check_kind(reader, periodic);
  reader.finish();
  scenario.periodic.push_back(std::move(periodic));
}

std::vector<int> usual_gpus(const ClusterSpec& cluster) {
  const int per_node = cluster.node.gpus;
  std::vector<int> out;
  for (int gpus = 1; gpus < per_node; gpus *= 2) out.push_back(gpus);
  for (std::int64_t nodes = 1; nodes < cluster.nodes; nodes *= 2)
    out.push_back(static_cast<int>(nodes * per_node));
  out.push_back(cluster.nodes * per_node);
  return out;
}

/// Epochs have whole steps: every rank gets the same share, rounded up, and a last batch that may be partial.
double steps_per_epoch(const Scenario& scenario, double global_batch, int gpus) {
  const double batch = global_batch / gpus,
               share = std::ceil(static_cast<double>(scenario.workload.data.samples) / gpus);
  return std::max(1.0,
                  scenario.workload.data.drop_last ? std::floor(share / batch) : std::ceil(share / batch));
}

double positive_time(TableReader& measured, std::string_view key) {
  const auto found = measured.time(key);
  if (found && *found == Time::zero()) {
    measured.report(measured.span_of(key),
                    fmt::format("{} must be longer than zero", measured.full_name(key)));
  }
  return found ? to_seconds(*found) : 0;
}

double measured_step(TableReader& measured, const Scenario& scenario, int gpus) {
  const std::int64_t weak = scenario.workload.batch_per_gpu * scenario.knobs.accumulation * gpus;
  const double batch = static_cast<double>(scenario.global_batch.value_or(weak));
  const auto rate = measured.number("samples_per_s", 1e-9, 1e15);
  const double step = positive_time(measured, "step"), epoch = positive_time(measured, "epoch");
  if (epoch > 0 && scenario.workload.data.samples == 0) {
    measured.report(measured.span_of("epoch"), "measured.epoch needs data.samples",
                    "how many samples has one epoch?");
  }
  if (rate) return batch / *rate;
  return step > 0 ? step : epoch / steps_per_epoch(scenario, batch, gpus);
}

}  // namespace

void read_run(TableReader& run, Scenario& scenario) {
  keep(run.number("epochs", 0, 1e6), scenario.epochs);
  scenario.startup = run.time("startup");
  const Table* table = run.table("every");
  if (table == nullptr) return;
  TableReader every(*table, run.full_name("every"), run.diagnostics());
  for (const Entry& entry : table->entries) {
    if (scenario.periodic.size() < 100)
      read_periodic(every, entry, scenario);
    else
      return run.report(entry.key_span, "run.every has more than 100 entries");
  }
}

void read_gpus(TableReader& run, Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const std::int64_t size = std::int64_t{cluster.nodes} * cluster.node.gpus;
  const auto found = run.integers("gpus", 1, kMostGpus, 4096);
  if (!run.has("gpus") && size >= 1 && size <= kMostGpus) scenario.gpus = usual_gpus(cluster);
  if (!found) return;
  if (found->empty())
    run.report(run.span_of("gpus"), "run.gpus is empty",
               "leave it out to get 1, 2, 4, … up to the whole cluster");
  const auto& values = std::get<Array>(run.value("gpus")->data);
  for (std::size_t i = 0; i < found->size(); ++i) {
    const std::int64_t gpus = (*found)[i];
    if (size > 0 && gpus > size)
      run.report(values[i].span, fmt::format("cluster {} has {} GPUs", cluster.name, size));
    if (gpus > scenario.global_batch.value_or(kMostGpus)) {
      run.report(values[i].span,
                 fmt::format("{} GPUs cannot share a global batch of {}", gpus, *scenario.global_batch));
    }
    scenario.gpus.push_back(static_cast<int>(gpus));
  }
  std::sort(scenario.gpus.begin(), scenario.gpus.end());
  scenario.gpus.erase(std::unique(scenario.gpus.begin(), scenario.gpus.end()), scenario.gpus.end());
}

void read_possible_gpus(TableReader& run, Scenario& scenario) {
  const std::int64_t size = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  const auto found = run.integers("gpus", 1, kMostGpus, 4096);
  if (!found && size >= 1 && size <= kMostGpus) scenario.gpus = usual_gpus(scenario.cluster);
  for (const std::int64_t gpus : found.value_or(std::vector<std::int64_t>{})) {
    if (gpus <= size && gpus <= scenario.global_batch.value_or(kMostGpus))
      scenario.gpus.push_back(static_cast<int>(gpus));
  }
  if (scenario.gpus.empty()) scenario.gpus.push_back(1);
  std::sort(scenario.gpus.begin(), scenario.gpus.end());
  scenario.gpus.erase(std::unique(scenario.gpus.begin(), scenario.gpus.end()), scenario.gpus.end());
}

void read_measured(TableReader& measured, Scenario& scenario) {
  Anchor anchor;
  count(measured, "gpus", 1, kMostGpus, anchor.gpus);
  const std::int64_t size = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  if (size > 0 && anchor.gpus > size) {
    measured.report(measured.span_of("gpus"),
                    fmt::format("cluster {} has {} GPUs", scenario.cluster.name, size));
  }
  anchor.step_s = measured_step(measured, scenario, anchor.gpus);
  AnchorSide side{};
  choose<AnchorSide>(
      measured, "scales",
      {{"compute", AnchorSide::compute}, {"host", AnchorSide::host}, {"input", AnchorSide::input}}, side);
  if (measured.has("scales")) anchor.scales = side;
  keep(measured.boolean("reused_batch"), anchor.reused_batch);
  std::vector<std::string> given;
  for (const char* key : {"samples_per_s", "step", "epoch"}) {
    if (measured.has(key)) given.emplace_back(key);
  }
  if (given.empty()) measured.require("samples_per_s", "samples_per_s = 325.95, or step or epoch as a time");
  if (given.size() > 1)
    measured.report(measured.span_of(given[1]),
                    fmt::format("measured has both {} and {}", given[0], given[1]), "give one of them");
  scenario.anchor = anchor;
}

}  // namespace foretrain
