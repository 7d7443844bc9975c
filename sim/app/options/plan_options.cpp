// Options of the command `plan`: the scenario options of predict, numbers of GPUs or nodes, and a batch in
// sequences or tokens. The command prints a ranked table of layouts, or JSON or a page.
#include "sim/app/options/plan_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/gpu_numbers.hpp"
#include "sim/app/options/named_files.hpp"
#include "sim/app/options/recommendation_options.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/workload/transformer/layer_kernels.hpp"

namespace foretrain {

// The command ends with exit code 1 when a script is wanted and no layout fits.
void add_plan(CLI::App& app, PlanOptions& options) {
  CLI::App* command =
      app.add_subcommand("plan", "The layouts of a large model that fit on some GPUs, ranked");
  PlanCommand& plan = options.plan;
  // The training that is planned.
  command->add_option(
      "SCENARIO", plan.scenario,
      "A scenario file or one of the catalog; without one --model and --cluster are needed. Keys of "
      "its [parallel] stay as they are");
  add_model(*command, plan.overrides, kNamedModel);
  command->add_option("--cluster", plan.overrides.cluster, "A cluster of the catalog or a file")
      ->type_name("NAME");
  // GPUs and nodes are two spellings of one question; the command refuses both together.
  command
      ->add_option("--gpus", options.gpus,
                   "How many GPUs; several, as in 8,16,32 or 8-64:8, are held against each other")
      ->delimiter(',')
      ->type_name("LIST");
  command->add_option("--nodes", options.nodes, "The same in whole nodes")->delimiter(',')->type_name("LIST");
  // The batch decides how many micro-batches a pipeline has.
  command
      ->add_option(
          "--global-batch", plan.global_batch,
          "Of a step: sequences, as in 1024, or tokens, as in 4M-tokens (rounded to a power of two of "
          "sequences); by default one million tokens")
      ->type_name("N");
  // Declares an option that is short for a key of the scenario. The typed option is kept as the origin for
  // messages.
  const auto set = [&](const char* name, const char* key, const char* form, const char* text) {
    command
        ->add_option_function<std::string>(
            name,
            [&plan, name, key, form](const std::string& value) {
              plan.overrides.settings.push_back(
                  fmt::format("{}={}", key, fmt::format(fmt::runtime(form), value)));
              plan.overrides.origins[plan.overrides.settings.back()] = {fmt::format("{} {}", name, value)};
            },
            text)
        ->type_name("VALUE");
  };
  // Shorthands of keys that are often given.
  set("--sequence", "parallel.sequence", "{}", "Tokens of a sequence, as parallel.sequence");
  set("--partition", "cluster.partition", "\"{}\"", "Which nodes of a site, as cluster.partition");
  set("--precision", "model.precision", "\"{}\"", "bf16 or fp8, as model.precision");
  set("--framework", "parallel.framework", "\"{}\"",
      "Whose kernels and rules, as parallel.framework: megatron, torchtitan, nanotron, …");
  command
      ->add_option_function<std::vector<std::string>>(
          "--set",
          [&plan](const std::vector<std::string>& given) {
            // Values are appended, because binding the list itself would replace settings of the shorthands.
            plan.overrides.settings.insert(plan.overrides.settings.end(), given.begin(), given.end());
          },
          "Any key of the scenario; of [parallel] it fixes what would be varied, as in parallel.tensor=8; "
          "may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  // Outputs: table, formats, job scripts, page.
  // Layouts on the Pareto front of time and memory are shown in addition.
  command->add_option("--top", plan.top, "So many layouts of the table")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  const std::vector<std::string> formats = names_of_rows(kPlanReports);
  command->add_option("--format", plan.format, joined(formats))
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->capture_default_str();
  add_job_scripts(*command, plan.scripts, "Job scripts");
  command->add_option("-o,--output", plan.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  command->add_option("--html", plan.html, "Also write why, time against memory, and all layouts as a page")
      ->type_name("FILE");
  command->footer(
      "Examples:\n  foretrain plan --model llama3_70b --cluster hgx-h100-400g --gpus 64 --global-batch "
      "1M-tokens\n  "
      "foretrain plan --model llama3_8b --cluster mahti --gpus 4 --set parallel.tensor=1 --format json\n  "
      "foretrain plan llama3-70b-pretraining --nodes 8,16,32,64 --sbatch job.sh");
  // Numbers of GPUs are parsed after the whole line, so that a mistake in them is reported as wrong input.
  command->callback([&options] {
    options.plan.gpus = gpu_numbers(options.gpus), options.plan.nodes = gpu_numbers(options.nodes);
    run_plan(options.plan);
  });
}

}  // namespace foretrain
