// Section by section; defaults are those of the Scenario's own members, so a key that is missing changes
// nothing.
#include "sim/scenario/sections/scenario_sections.hpp"

#include <fmt/format.h>

#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

void read_batch(TableReader& model, Scenario& scenario) {
  scenario.global_batch = model.integer("global_batch", 1, kLargestBatch);
  keep(model.integer("batch_per_gpu", 1, kLargestBatch), scenario.workload.batch_per_gpu);
  if (!model.has("global_batch") || !model.has("batch_per_gpu")) return;
  model.report(model.span_of("global_batch"), "model has both batch_per_gpu and global_batch",
               "batch_per_gpu keeps the work per GPU the same (weak scaling), global_batch divides it "
               "(strong scaling)");
}

}  // namespace

void read_training(TableReader& model, Scenario& scenario) {
  Workload& work = scenario.workload;
  choose<Precision>(model, "precision",
                    {{"fp32", Precision::fp32},
                     {"tf32", Precision::tf32},
                     {"amp_fp16", Precision::amp_fp16},
                     {"bf16", Precision::bf16},
                     {"fp8", Precision::fp8}},
                    work.precision);
  keep(model.boolean("half_weights"), work.half_weights);
  read_batch(model, scenario);
}

}  // namespace foretrain
