// One function per command declares its options; the callbacks carry it out.
#include "sim/app/command_line.hpp"

#include <cstdio>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/calibrate_options.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/training_options.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

constexpr int kUsageError = 2;

/// Everything the options write to.
struct Options {
  TrainingOptions training;
  CollectiveCommand collective;
  ListCommand list;
  TopologyCommand topology;
  ModelCommand model;
  JobCommand job;
  CalibrateCommand calibrate;
  ReferenceCommand reference;
};

std::vector<std::string> names_of_algorithms() {
  std::vector<std::string> names;
  for (const nccl::Algorithm algorithm : nccl::kAlgorithms) names.emplace_back(nccl::name_of(algorithm));
  return names;
}

std::vector<std::string> names_of(auto const& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name_of(value));
  return names;
}

/// What is asked, and how the collective runs.
void add_collective_question(CLI::App& command, CollectiveCommand& collective) {
  command.add_option("--cluster", collective.cluster, "A cluster of the catalog or a file")
      ->required()
      ->type_name("NAME");
  command.add_option("--op", collective.op, joined(names_of(kCollectiveOps)))->required()->type_name("OP");
  command.add_option("--gpus", collective.gpus, "Number of GPUs")->required()->type_name("N");
  command
      .add_option("--nodes", collective.nodes,
                  "Spread the GPUs evenly over so many nodes; otherwise as few as hold them")
      ->check(CLI::PositiveNumber)
      ->type_name("M");
  command
      .add_option(
          "--sizes", collective.sizes,
          "FROM:TO:FACTOR, FROM:TO:+STEP, one size, or a list with commas; K, M, G are powers of two, as in "
          "nccl-tests. all_gather, "
          "reduce_scatter, alltoall, gather and scatter round down to 16 bytes per rank, as nccl-tests does")
      ->type_name("SIZES")
      ->capture_default_str();
  command
      .add_option(
          "--algorithm", collective.algorithm,
          joined(names_of_algorithms()) +
              "; otherwise what NCCL takes at each size. With another --transport: a family of `list " +
              "collectives`, as ring, recursive_doubling, double_binary_tree; otherwise what its library "
              "takes")
      ->type_name("NAME");
  command
      .add_option("--protocol", collective.protocol,
                  joined(names_of(kProtocols)) + "; otherwise what NCCL takes at each size")
      ->check(CLI::IsMember(names_of(kProtocols), CLI::ignore_case))
      ->type_name("NAME");
  command.add_option("--channels", collective.channels, "NCCL's channels, at least and at most")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command
      .add_option(
          "--transport", collective.transport,
          "nccl, or a row of `list transports`: gloo_tcp, grpc, mpi_ib, mpi_tcp between processes, with the "
          "data in host memory; "
          "plain for whole messages between GPUs on links that cost nothing but latency and bandwidth")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--launch-processes", collective.launch_processes,
                  "one: a process per node launches the kernels of all its GPUs, one after the other "
                  "(nccl-tests -g N); per-gpu: a process "
                  "for each. Default as nccl-tests is run: one on one node, per-gpu over several")
      ->check(CLI::IsMember(std::vector<std::string>{"one", "per-gpu"}))
      ->type_name("one|per-gpu");
  command
      .add_option(
          "--set", collective.settings,
          "Any key of [nccl] and [launch], as in nccl.version=2.18, and cluster.calibration; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

/// The names that --algorithm takes depend on --transport, which may come after it.
void check_algorithm(CollectiveCommand& collective) {
  if (collective.algorithm.empty() || collective.transport != "nccl") return;
  const std::string problem = CLI::IsMember(names_of_algorithms(), CLI::ignore_case)(collective.algorithm);
  if (!problem.empty()) throw CLI::ValidationError("--algorithm", problem);
}

void add_collective(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "collective", "Time and bandwidth of a collective over message sizes, as nccl-tests prints them");
  CollectiveCommand& collective = options.collective;
  add_collective_question(*command, collective);
  command
      ->add_option("--fidelity", collective.fidelity,
                   "analytic: a closed form; flow: flows share links; chunk: every chunk is an event")
      ->check(CLI::IsMember(names_of(kFidelities)))
      ->type_name(joined(names_of(kFidelities)))
      ->capture_default_str();
  command->add_option("--format", collective.format, joined(collective_report_names()))
      ->check(CLI::IsMember(collective_report_names()))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", collective.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  command->add_option("--svg", collective.svg, "Also draw bus bandwidth over size")->type_name("FILE");
  command
      ->add_option("--measured", collective.measured,
                   "CSV as for validate; its rows of the same job are drawn over the curve")
      ->needs("--svg")
      ->type_name("FILE");
  command->add_flag("--explain", collective.explain,
                    "Say for each size what was chosen, what bounds it, and what lost");
  command->footer(
      "Examples:\n  foretrain collective --cluster dgx-a100 --op all_reduce --gpus 8\n  foretrain collective "
      "--cluster perlmutter --op "
      "all_gather --gpus 16 --nodes 4 --sizes 1M:1G:2 --format csv\n  foretrain collective --cluster "
      "dgx1-v100 --op all_reduce --gpus 8 "
      "--algorithm ring --protocol simple --explain\n  foretrain collective --cluster star-1gpu --op "
      "all_reduce --gpus 1024 --sizes 64M "
      "--transport plain --algorithm ring --fidelity chunk");
  command->callback([&options] {
    check_algorithm(options.collective);
    run_collective(options.collective);
  });
}

void add_list(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("list", "What the catalogs hold");
  command->add_option("WHAT", options.list.what, joined(listable()))
      ->required()
      ->check(CLI::IsMember(listable()));
  command->footer("Example:\n  foretrain list clusters");
  command->callback([&options] { run_list(options.list); });
}

/// The job whose channels are shown or drawn.
void add_channel_options(CLI::App& command, TopologyCommand& topology, const std::string& purpose) {
  CLI::Option* channels = command.add_flag("--channels", topology.channels, purpose);
  command.add_option("--gpus", topology.gpus, "Number of GPUs of the job; otherwise all of its nodes")
      ->check(CLI::PositiveNumber)
      ->needs(channels)
      ->type_name("N");
  command
      .add_option("--nodes", topology.nodes,
                  "Spread them over so many nodes; otherwise as few as hold them, and one for all GPUs of it")
      ->check(CLI::PositiveNumber)
      ->needs(channels)
      ->type_name("M");
  command.add_option("--nccl-version", topology.nccl_version, "As in 2.18.3")
      ->needs(channels)
      ->type_name("V");
  command.add_option("--set", topology.settings, "Any key of [nccl], as in nccl.collnet=1; may be repeated")
      ->needs(channels)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_topology(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("topology", "Look at a cluster");
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand("show", "Links, routes between GPUs, all_reduce on idle links");
  show->add_option("CLUSTER", options.topology.cluster, "A cluster of the catalog or a file")->required();
  add_channel_options(
      *show, options.topology,
      "Show what NCCL finds for a job instead: channels by pattern, what runs, trees between nodes");
  show->footer(
      "Examples:\n  foretrain topology show puhti\n  foretrain topology show dgx1-v100 --channels\n  "
      "foretrain topology show dgx-h100 "
      "--channels --nodes 4 --nccl-version 2.18.3");
  show->callback([&options] { run_topology_show(options.topology); });
  CLI::App* check = command->add_subcommand("check", "Every mistake in a cluster file");
  check->add_option("CLUSTER", options.topology.cluster, "A cluster of the catalog or a file")->required();
  check->footer("Example:\n  foretrain topology check mahti");
  check->callback([&options] { run_topology_check(options.topology); });
  CLI::App* draw = command->add_subcommand("draw", "A node as a picture: devices, links, rings");
  draw->add_option("CLUSTER", options.topology.cluster, "A cluster of the catalog or a file")->required();
  draw->add_option("-o,--output", options.topology.output, "FILE.svg, or FILE.dot for Graphviz")
      ->required()
      ->type_name("FILE");
  add_channel_options(*draw, options.topology, "Draw NCCL's rings, too");
  draw->footer("Example:\n  foretrain topology draw dgx1-v100 --channels -o dgx1.svg");
  draw->callback([&options] { run_topology_draw(options.topology); });
}

/// What the layers are of: batch, arithmetic, GPU.
void add_model_question(CLI::App& command, ModelCommand& model) {
  command.add_option("MODEL", model.model, "A model of the catalog or a file")->required();
  command.add_option("--batch", model.batch, "Samples per GPU and step; weights are shared by them")
      ->type_name("N");
  command.add_option("--precision", model.precision, "As model.precision of a scenario")->type_name("NAME");
  CLI::Option* gpu =
      command.add_option("--gpu", model.gpu, "Also say where kernel time goes on this GPU of the catalog");
  gpu->type_name("NAME");
  command.add_option("--cluster", model.cluster, "The same on the GPU of this cluster")
      ->excludes(gpu)
      ->type_name("NAME");
  command
      .add_option("--set", model.settings,
                  "Any key of the scenario, as in model.optimizer=\"adam\"; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_model(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("model", "Look at a network");
  command->require_subcommand(1);
  ModelCommand& model = options.model;
  CLI::App* show = command->add_subcommand(
      "show", "Layers with shapes, parameters, FLOPs, bytes and kernels; memory; time on a GPU");
  add_model_question(*show, model);
  show->add_option("--layers", model.layers,
                   "folded: what repeats, once with its count; all: every layer; none: only totals")
      ->check(CLI::IsMember(layer_listings()))
      ->type_name(joined(layer_listings()))
      ->capture_default_str();
  show->add_option("--format", model.format, joined(model_report_names()))
      ->check(CLI::IsMember(model_report_names()))
      ->type_name("FORMAT")
      ->capture_default_str();
  show->add_option("-o,--output", model.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  show->footer(
      "Examples:\n  foretrain model show resnet50\n  foretrain model show resnet50 --batch 128 --precision "
      "amp_fp16 --gpu a100-sxm4-80gb\n "
      " "
      "foretrain model show ./my.toml --layers all --format csv -o layers.csv");
  show->callback([&model] { run_model_show(model); });
}

void add_job(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("job", "Look at a job script of Slurm or a submit file of HTCondor");
  command->require_subcommand(1);
  JobCommand& job = options.job;
  CLI::App* show = command->add_subcommand(
      "show", "What was understood and in which line, the cluster, the scenario it becomes, mistakes");
  show->add_option("FILE", job.file, "The script; it is only read, never run")->required();
  show->add_option("--cluster", job.overrides.cluster,
                   "The cluster it is for, where the script leaves that open")
      ->type_name("NAME");
  show->add_option("--model", job.overrides.model, "The network it trains")->type_name("NAME");
  show->add_option("--format", job.format, "table|json")
      ->check(CLI::IsMember(std::vector<std::string>{"table", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  show->add_option("-o,--output", job.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  show->footer(
      "Examples:\n  foretrain job show job.sbatch\n  foretrain job show submit.sub --cluster chtc-2080ti "
      "--format json");
  show->callback([&job] { run_job_show(job); });
}

std::string commands_page();

void add_reference(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("reference", "The reference pages, as they stand in docs/reference");
  command->add_option("TOPIC", options.reference.topic, joined(reference_topics()))
      ->required()
      ->check(CLI::IsMember(reference_topics()));
  command->footer("Example:\n  foretrain reference scenario");
  command->callback([&options] { run_reference(options.reference, commands_page()); });
}

void declare(CLI::App& app, Options& options) {
  app.set_version_flag("--version", "foretrain " FORETRAIN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 wrong input, 2 wrong usage, 3 the world failed (a file cannot be read or "
      "written).");
  add_predict(app, options.training);
  add_compare(app, options.training);
  add_collective(app, options);
  add_list(app, options);
  add_topology(app, options);
  add_model(app, options);
  add_validate(app, options.training);
  add_calibrate(app, options.calibrate);
  add_job(app, options);
  add_reference(app, options);
}

constexpr const char* kPurpose =
    "foretrain predicts how long a training epoch takes on N GPUs, and where more of them stop paying.";

/// The help of every command, as Markdown. A command line of its own: one that has parsed shows the help of
/// the command it chose.
std::string commands_page() {
  CLI::App app{kPurpose, "foretrain"};
  Options options;
  declare(app, options);
  struct Page {
    std::string parent;
    CLI::App* command;
  };
  std::string out = "# Commands\n\nPrinted by `foretrain reference commands`.\n";
  std::vector<Page> open{{"", &app}};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto [parent, command] = open[i];
    const std::string name = parent.empty() ? command->get_name() : parent + " " + command->get_name();
    out += fmt::format("\n## `{}`\n\n```\n{}```\n", name, command->help(parent));
    for (CLI::App* child : command->get_subcommands([](CLI::App*) { return true; }))
      open.push_back({name, child});
  }
  return out;
}

/// Help and version to standard output; mistakes, with what the user typed in them, to standard error.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream asked_for, mistakes;
  const bool is_mistake = app.exit(error, asked_for, mistakes) != 0;
  write_output("", asked_for.str());
  fmt::print(stderr, "{}", printable_lines(mistakes.str()));
  return is_mistake ? kUsageError : 0;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{kPurpose, "foretrain"};
  Options options;
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  return 0;
}

}  // namespace foretrain
