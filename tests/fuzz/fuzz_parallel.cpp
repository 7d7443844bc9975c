// Fuzz target: tables [parallel], and what may follow them, from any bytes in a scenario of a mixture of
// experts; mistakes must come as InputError, and what is read must be a job that can run: degrees that make
// the GPUs, stages that have all layers, memory in finite numbers, and no stage that waits for ever. Names
// with a slash or
// ".toml" would open files of the machine, so such inputs are passed over.
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/strategy/parallel/schedule.hpp"
#include "sim/strategy/parallel/stage_memory.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace foretrain;
using test::require;

/// Beyond so many micro-batches a schedule repeats itself.
constexpr std::int64_t kMostScheduled = 64;

void check_stages(const LargeModelRun& job) {
  const std::vector<StageChunk> chunks = stage_chunks(job);
  int layers = 0, heads = 0;
  for (const StageChunk& chunk : chunks) {
    require(chunk.stage >= 0 && chunk.stage < job.degrees.pipeline && chunk.layers >= 0);
    layers += chunk.layers, heads += chunk.head ? 1 : 0;
  }
  require(layers == job.ways() * job.shape.layers && heads == job.ways());
  if (job.micro_batches() > kMostScheduled) return;
  const auto orders = schedule_of(
      {job.schedule, job.degrees.pipeline, chunks_per_stage(job), static_cast<int>(job.micro_batches())});
  require(executable_order(orders, static_cast<int>(chunks.size()), job.ways()).has_value());
}

void check_runs(const LargeModelRun& job, int gpus) {
  require(faults_of(job, gpus).empty() && job.gpus() == gpus);
  require(job.micro_batches() >= 1 && job.tokens_per_step() >= 1);
  check_stages(job);
  const std::vector<StageMemory> memory = stage_memory(job);
  require(static_cast<int>(memory.size()) == job.degrees.pipeline);
  for (const StageMemory& stage : memory) {
    require(std::isfinite(stage.total()) && stage.weights >= 0 && stage.gradients >= 0);
    require(stage.optimizer >= 0 && stage.activations >= 0 && stage.logits >= 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static OpenedCatalogs opened;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find('/') != std::string::npos || text.find(".toml") != std::string::npos ||
      text.find('\\') != std::string::npos)
    return 0;
  const std::string question =
      "[model]\nname = \"mixtral_8x7b\"\n[cluster]\nname = \"hgx-h100-400g\"\n[parallel]\n";
  try {
    const Scenario scenario = read_scenario({"fuzz.toml", question + text}, {}, opened);
    require(scenario.parallel.has_value() && !scenario.gpus.empty());
    for (const int gpus : scenario.gpus) check_runs(job_on(*scenario.parallel, gpus), gpus);
  } catch (const InputError& error) {
    require(!error.diagnostics().empty());
  }
  return 0;
}
