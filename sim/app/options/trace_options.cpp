// Options of `trace show` and `trace diff`: the files, and for diff what was trained.
#include "sim/app/options/trace_options.hpp"

#include <CLI/CLI.hpp>

#include "sim/app/options/named_files.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/traces/trace_diff_reports.hpp"
#include "sim/report/traces/trace_reports.hpp"

namespace foretrain {

namespace {

// Help text of FILE.
constexpr const char* kTraceFile =
    "What torch.profiler exported (Kineto), as JSON or packed with gzip; -: standard input";

/// Adds --format and -o.
void add_trace_output(CLI::App& command, TraceCommand& trace, const std::vector<std::string>& formats) {
  command.add_option("--format", trace.format, joined(formats))
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("-o,--output", trace.output, "Write to a file instead of standard output")
      ->type_name("FILE");
}

/// Adds `trace show`, which prints where the time of recorded steps went.
void add_trace_show(CLI::App& app, TraceCommand& trace) {
  CLI::App* show = app.add_subcommand(
      "show", "Where the time of its steps went: kernels, communication, idle time by its cause");
  show->add_option("FILE", trace.files, std::string(kTraceFile) + "; several: ranks of the same training")
      ->required();
  add_trace_output(*show, trace, names_of_rows(kTraceFormats));
  show->footer(
      "Examples:\n  foretrain trace show trace.json.gz\n  foretrain trace show rank0.json.gz rank1.json.gz\n"
      "  foretrain trace show trace.json --format csv -o steps.csv");
  show->callback([&trace] { run_trace_show(trace); });
}

/// Adds `trace diff`, which prints a recorded step next to its prediction.
void add_trace_diff(CLI::App& app, TraceCommand& trace) {
  CLI::App* diff =
      app.add_subcommand("diff", "A recorded step beside its prediction, and the three largest differences");
  diff->add_option("FILE", trace.files, kTraceFile)->required()->expected(1);
  diff->add_option("--scenario", trace.scenario,
                   "What was trained where: a scenario file, or the name of one in the catalog")
      ->type_name("NAME");
  // The options of the training override what the trace itself states.
  ScenarioOverrides& overrides = trace.overrides;
  add_model(*diff, overrides, "The network, by its name or file; none: the one that the trace itself makes");
  diff->add_option("--cluster", overrides.cluster, "The cluster it ran on")->type_name("NAME");
  diff->add_option("--strategy", overrides.strategy, "How it was trained")->type_name("NAME");
  diff->add_option_function<std::int64_t>(
          "--batch", [&overrides](std::int64_t batch) { overrides.batch = batch; },
          "Samples per GPU and step")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->type_name("N");
  diff->add_option_function<int>(
          "--gpus", [&overrides](int gpus) { overrides.gpus = {gpus}; },
          "How many GPUs trained, where the trace does not say it")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  diff->add_option("--set", overrides.settings,
                   "Any key of the scenario, as in framework.version=\"2.1\"; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_trace_output(*diff, trace, names_of_rows(kTraceDiffFormats));
  diff->footer(
      "Examples:\n  foretrain trace diff trace.json.gz --scenario mine.toml\n  foretrain trace diff "
      "trace.json.gz --model resnet50 --cluster mahti --gpus 4 --batch 32");
  diff->callback([&trace] { run_trace_diff(trace); });
}

}  // namespace

// Both commands read a trace in one pass and keep compact records of it.
void add_trace(CLI::App& app, TraceCommand& trace) {
  CLI::App* command = app.add_subcommand("trace", "Look at what a profiler recorded");
  command->require_subcommand(1);
  add_trace_show(*command, trace);
  add_trace_diff(*command, trace);
}

}  // namespace foretrain
