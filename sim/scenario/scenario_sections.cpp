// Section by section; defaults are those of the Scenario's own members, so a key that is missing changes nothing.
#include "sim/scenario/scenario_sections.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

template <typename Enum>
struct Choice {
  std::string name;
  Enum value;
};

template <typename Enum>
void choose(TableReader& reader, std::string_view key, const std::vector<Choice<Enum>>& choices, Enum& out) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.name);
  const auto found = reader.one_of(key, names);
  for (const auto& choice : choices) {
    if (found && choice.name == *found) out = choice.value;
  }
}

template <typename T>
void keep(std::optional<T> found, T& out) {
  if (found) out = *std::move(found);
}

void count(TableReader& reader, std::string_view key, std::int64_t least, std::int64_t most, int& out) {
  if (const auto found = reader.integer(key, least, most)) out = static_cast<int>(*found);
}

void positive_size(TableReader& reader, std::string_view key, Bytes& out) {
  const auto found = reader.bytes(key);
  if (!found) return;
  out = *found;
  if (found->count == 0) reader.report(reader.span_of(key), fmt::format("{} must be at least one byte", reader.full_name(key)));
}

void read_batch(TableReader& model, Scenario& scenario) {
  scenario.global_batch = model.integer("global_batch", 1, kLargestBatch);
  keep(model.integer("batch_per_gpu", 1, kLargestBatch), scenario.workload.batch_per_gpu);
  if (!model.has("global_batch") || !model.has("batch_per_gpu")) return;
  model.report(model.span_of("global_batch"), "model has both batch_per_gpu and global_batch",
               "batch_per_gpu keeps the work per GPU the same (weak scaling), global_batch divides it (strong scaling)");
}

}  // namespace

void read_training(TableReader& model, Scenario& scenario) {
  using O = OptimizerKind;
  Workload& work = scenario.workload;
  choose<Precision>(model, "precision",
                    {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"amp_fp16", Precision::amp_fp16}, {"bf16", Precision::bf16}},
                    work.precision);
  read_batch(model, scenario);
  choose<O>(model, "optimizer",
            {{"sgd", O::sgd}, {"momentum", O::momentum}, {"adam", O::adam}, {"adamw", O::adamw}, {"adadelta", O::adadelta}},
            work.optimizer.kind);
  choose<OptimizerForm>(model, "optimizer_form",
                        {{"foreach", OptimizerForm::foreach}, {"for_loop", OptimizerForm::for_loop}, {"fused", OptimizerForm::fused}},
                        work.optimizer.form);
  keep(model.boolean("weight_decay"), work.optimizer.weight_decay);
}

void read_data(TableReader& data, Scenario& scenario) {
  DataSet& set = scenario.workload.data;
  keep(data.integer("samples", 1, 1'000'000'000'000), set.samples);
  positive_size(data, "sample_bytes", set.sample_bytes);
  keep(data.time("decode"), set.decode);
  count(data, "workers_per_gpu", 0, 256, set.workers_per_gpu);
  count(data, "prefetch", 1, 1000, set.prefetch);
  count(data, "cores_per_gpu", 1, 1024, set.cores_per_gpu);
  keep(data.boolean("pinned"), set.pinned);
  keep(data.boolean("persistent_workers"), set.persistent_workers);
  keep(data.boolean("drop_last"), set.drop_last);
}

void read_strategy(TableReader& strategy, Scenario& scenario) {
  StrategyKnobs& knobs = scenario.knobs;
  keep(strategy.one_of("name", strategy_names()), scenario.strategy);
  positive_size(strategy, "bucket_cap", knobs.bucket_cap);
  positive_size(strategy, "first_bucket", knobs.first_bucket);
  count(strategy, "accumulation", 1, 4096, knobs.accumulation);
  keep(strategy.boolean("find_unused_parameters"), knobs.find_unused_parameters);
  keep(strategy.boolean("static_graph"), knobs.static_graph);
  keep(strategy.boolean("gradient_as_bucket_view"), knobs.gradient_as_bucket_view);
  keep(strategy.boolean("broadcast_buffers"), knobs.broadcast_buffers);
  keep(strategy.boolean("wrap_one_gpu"), knobs.wrap_one_gpu);
}

void read_loop(TableReader& loop, Scenario& scenario) {
  using Z = TrainingLoop::ZeroGrad;
  TrainingLoop& script = scenario.workload.loop;
  keep(loop.boolean("non_blocking"), script.non_blocking);
  count(loop, "loss_item_every", 0, 1'000'000, script.loss_item_every);
  keep(loop.boolean("loss_item_before_backward"), script.loss_item_before_backward);
  choose<Z>(loop, "zero_grad", {{"none", Z::none}, {"set_to_none", Z::set_to_none}, {"zero", Z::zero}}, script.zero_grad);
  keep(loop.time("overhead"), script.overhead);
}

namespace {

void read_periodic(TableReader& every, const Entry& entry, Scenario& scenario) {
  const Table* table = every.table(entry.key);
  if (table == nullptr) return;
  TableReader reader(*table, every.full_name(entry.key.substr(0, 60)), every.diagnostics());
  Periodic periodic{entry.key, 1, {}};
  keep(reader.number("epochs", 1e-6, 1e6), periodic.every_epochs);
  reader.require("duration", "\"30 s\"");
  keep(reader.time("duration"), periodic.duration);
  reader.finish();
  scenario.periodic.push_back(std::move(periodic));
}

std::vector<int> usual_gpus(const ClusterSpec& cluster) {
  const int per_node = cluster.node.gpus;
  std::vector<int> out;
  for (int gpus = 1; gpus < per_node; gpus *= 2) out.push_back(gpus);
  for (std::int64_t nodes = 1; nodes < cluster.nodes; nodes *= 2) out.push_back(static_cast<int>(nodes * per_node));
  out.push_back(cluster.nodes * per_node);
  return out;
}

/// Epochs have whole steps: every rank gets the same share, rounded up, and a last batch that may be partial.
double steps_per_epoch(const Scenario& scenario, double global_batch, int gpus) {
  const double batch = global_batch / gpus, share = std::ceil(static_cast<double>(scenario.workload.data.samples) / gpus);
  return std::max(1.0, scenario.workload.data.drop_last ? std::floor(share / batch) : std::ceil(share / batch));
}

double positive_time(TableReader& measured, std::string_view key) {
  const auto found = measured.time(key);
  if (found && *found == Time::zero()) {
    measured.report(measured.span_of(key), fmt::format("{} must be longer than zero", measured.full_name(key)));
  }
  return found ? to_seconds(*found) : 0;
}

double measured_step(TableReader& measured, const Scenario& scenario, int gpus) {
  const double batch =
      static_cast<double>(scenario.global_batch ? *scenario.global_batch : scenario.workload.batch_per_gpu * std::int64_t{gpus});
  const auto rate = measured.number("samples_per_s", 1e-9, 1e15);
  const double step = positive_time(measured, "step"), epoch = positive_time(measured, "epoch");
  if (epoch > 0 && scenario.workload.data.samples == 0) {
    measured.report(measured.span_of("epoch"), "measured.epoch needs data.samples", "how many samples has one epoch?");
  }
  if (rate) return batch / *rate;
  return step > 0 ? step : epoch / steps_per_epoch(scenario, batch, gpus);
}

}  // namespace

void read_run(TableReader& run, Scenario& scenario) {
  keep(run.number("epochs", 0, 1e6), scenario.epochs);
  keep(run.time("startup"), scenario.startup);
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
  if (found->empty()) run.report(run.span_of("gpus"), "run.gpus is empty", "leave it out to get 1, 2, 4, … up to the whole cluster");
  const auto& values = std::get<Array>(run.value("gpus")->data);
  for (std::size_t i = 0; i < found->size(); ++i) {
    const std::int64_t gpus = (*found)[i];
    if (size > 0 && gpus > size) run.report(values[i].span, fmt::format("cluster {} has {} GPUs", cluster.name, size));
    if (gpus > scenario.global_batch.value_or(kMostGpus)) {
      run.report(values[i].span, fmt::format("{} GPUs cannot share a global batch of {}", gpus, *scenario.global_batch));
    }
    scenario.gpus.push_back(static_cast<int>(gpus));
  }
  std::sort(scenario.gpus.begin(), scenario.gpus.end());
  scenario.gpus.erase(std::unique(scenario.gpus.begin(), scenario.gpus.end()), scenario.gpus.end());
}

void read_measured(TableReader& measured, Scenario& scenario) {
  Anchor anchor;
  count(measured, "gpus", 1, kMostGpus, anchor.gpus);
  const std::int64_t size = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  if (size > 0 && anchor.gpus > size) {
    measured.report(measured.span_of("gpus"), fmt::format("cluster {} has {} GPUs", scenario.cluster.name, size));
  }
  anchor.step_s = measured_step(measured, scenario, anchor.gpus);
  std::vector<std::string> given;
  for (const char* key : {"samples_per_s", "step", "epoch"}) {
    if (measured.has(key)) given.emplace_back(key);
  }
  if (given.empty()) measured.require("samples_per_s", "samples_per_s = 325.95, or step or epoch as a time");
  if (given.size() > 1)
    measured.report(measured.span_of(given[1]), fmt::format("measured has both {} and {}", given[0], given[1]), "give one of them");
  scenario.anchor = anchor;
}

}  // namespace foretrain
