// Opens a sweep's file. The scenario is read as it stands first, so that its own mistakes are reported once
// instead of by every case.
#include "sim/app/sweep/opened_sweep.hpp"

#include "sim/app/named_scenario.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Throws InputError about the sweep's file.
[[noreturn]] void refuse(const SourceText& file, const std::string& message, const std::string& hint) {
  throw InputError(std::vector<Diagnostic>{{file.name, {}, "", message, hint}});
}

}  // namespace

OpenedSweep open_sweep(const std::string& file, const Shard& shard) {
  OpenedSweep out{read_text_file(file), {}, {}, {}};
  out.sweep = read_or_throw(out.file, read_sweep);
  if (!out.sweep.scenario.empty()) {
    out.scenario = swept_scenario(open_scenario(out.sweep.scenario, {}).source);
    // Without an axis of GPUs the scenario's numbers are used.
    add_gpus(out.sweep, out.scenario.own.gpus);
  } else if (!out.sweep.varies("model.name") || !out.sweep.varies("cluster.name")) {
    refuse(out.file, "the sweep names no scenario, and no axes of model and cluster",
           "scenario = \"mahti-resnet50-ddp\", or model and cluster in [axes]");
  } else if (!out.sweep.varies("run.gpus")) {
    refuse(out.file, "on how many GPUs?", "as in gpus = [1, 2, 4] in [axes]");
  }
  // The head is stored in the database, so that it can be read without the sweep's file.
  SweepHead& head = out.head;
  head.name = name_of_file(file), head.text = sweep_text(out.sweep);
  head.scenario = out.scenario.source;
  head.strategy = out.scenario.source.text.empty() ? "ddp" : out.scenario.own.strategy;
  head.version = FORETRAIN_VERSION, head.shard = shard, head.seed = out.sweep.seed;
  return out;
}

}  // namespace foretrain
