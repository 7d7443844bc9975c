// Options of the command `collective`: the question (cluster, operation, job, sizes), how NCCL runs, and the
// outputs.
#include "sim/app/options/collective_options.hpp"

#include <CLI/CLI.hpp>

#include "sim/app/options/evidence_options.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/names.hpp"
#include "sim/report/collective/collective_catalog.hpp"

namespace foretrain {

namespace {

/// Returns the names of NCCL's algorithms as nccl.algorithm takes them.
std::vector<std::string> names_of_algorithms() {
  std::vector<std::string> names;
  for (const nccl::Algorithm algorithm : nccl::kAlgorithms) names.emplace_back(nccl::name_of(algorithm));
  return names;
}

/// Returns the names of the values of an enum.
std::vector<std::string> names_of(auto const& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name_of(value));
  return names;
}

/// Adds the options of the question and of how the collective runs.
void add_collective_question(CLI::App& command, CollectiveCommand& collective) {
  command.add_option("--cluster", collective.cluster, "A cluster of the catalog or a file")
      ->required()
      ->type_name("NAME");
  command.add_option("--op", collective.op, joined(names_of(kCollectiveOps)))->required()->type_name("OP");
  command.add_option("--gpus", collective.gpus, "Number of GPUs")->required()->type_name("N");
  // More nodes than needed spread the GPUs, as a batch system may do.
  command
      .add_option("--nodes", collective.nodes,
                  "Spread the GPUs evenly over so many nodes; otherwise as few as hold them")
      ->check(CLI::PositiveNumber)
      ->type_name("M");
  // A size is the bytes of one call as nccl-tests counts them. The command parses the text, and each size
  // becomes a row of the table.
  command
      .add_option(
          "--sizes", collective.sizes,
          "FROM:TO:FACTOR, FROM:TO:+STEP, one size, or a list with commas; K, M, G are powers of two, as in "
          "nccl-tests. all_gather, "
          "reduce_scatter, alltoall, gather and scatter round down to 16 bytes per rank, as nccl-tests does")
      ->type_name("SIZES")
      ->capture_default_str();
  // The names depend on --transport, so check_algorithm() checks them after the parse. An algorithm of NCCL
  // becomes the setting nccl.algorithm.
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
      ->transform(one_of(names_of(kProtocols)))
      ->type_name("NAME");
  // One number fixes both limits: nccl.min_channels and nccl.max_channels.
  command.add_option("--channels", collective.channels, "NCCL's channels, at least and at most")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  // "nccl" may be spelled in any case; other names are looked up in the catalog by the command.
  command
      .add_option(
          "--transport", collective.transport,
          "nccl, or a row of `list transports`: gloo_tcp, grpc, mpi_ib, mpi_tcp between processes, with the "
          "data in host memory; "
          "plain for whole messages between GPUs on links that cost nothing but latency and bandwidth")
      ->transform([](std::string name) { return spelt_alike(name, {"nccl"}).empty() ? name : "nccl"; })
      ->type_name("NAME")
      ->capture_default_str();
  // The number of processes decides how long the host needs to launch a call on all GPUs.
  command
      .add_option_function<std::string>(
          "--launch-processes",
          [&collective](const std::string& name) {
            collective.launch_processes = name == "one" ? LaunchProcesses::one : LaunchProcesses::per_gpu;
          },
          "one: a process per node launches the kernels of all its GPUs, one after the other "
          "(nccl-tests -g N); per-gpu: a process "
          "for each. Default as nccl-tests is run: one on one node, per-gpu over several")
      ->transform(one_of({"one", "per-gpu"}))
      ->type_name("one|per-gpu");
  // Anything else about NCCL and the launch goes through settings. Other transports refuse them.
  command
      .add_option("--set", collective.settings,
                  "Any key of [nccl], as in nccl.version=2.18, launch.processes_per_node and .isolation, "
                  "nccl_tests.iterations (-n) and .threads (-t), and cluster.calibration; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

/// Checks --algorithm after the parse, since its names depend on --transport, which may come later on the
/// line.
void check_algorithm(CollectiveCommand& collective) {
  if (collective.algorithm.empty() || !collective.is_nccl()) return;
  const std::string problem = one_of(names_of_algorithms())(collective.algorithm);
  if (!problem.empty()) throw CLI::ValidationError("--algorithm", problem);
}

}  // namespace

// Without further options the report is the table of nccl-tests, so that both can be compared line by line.
void add_collective(CLI::App& app, CollectiveCommand& collective) {
  CLI::App* command = app.add_subcommand(
      "collective", "Time and bandwidth of a collective over message sizes, as nccl-tests prints them");
  add_collective_question(*command, collective);
  command
      ->add_option("--fidelity", collective.fidelity,
                   "analytic: a closed form; flow: flows share links; chunk: every chunk is an event")
      ->transform(one_of(names_of(kFidelities)))
      ->type_name(joined(names_of(kFidelities)))
      ->capture_default_str();
  command->add_option("--format", collective.format, joined(collective_report_names()))
      ->transform(one_of(collective_report_names()))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", collective.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  command->add_option("--svg", collective.svg, "Also draw bus bandwidth over size")->type_name("FILE");
  command->add_option("--html", collective.html, "Also write time and bandwidth over size as a page")
      ->type_name("FILE");
  // A row of the same job has the same cluster, operation and numbers of GPUs and nodes as the curve. Drawn
  // rows do not correct the curve as evidence.
  command
      ->add_option(
          "--measured", collective.measured,
          "CSV as for validate; its rows of the same job are drawn over the curve of --svg or --html")
      ->type_name("FILE");
  add_evidence_option(*command, collective.evidence);
  command->add_flag(
      "--single", collective.single,
      "What one call takes by itself, as in a training step; otherwise one of many in the loop of "
      "nccl-tests, which hides launches and the way down a chain");
  command->add_flag("--quiet", collective.quiet,
                    "The rows of nccl-tests alone, without lines that begin with #");
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
  // Measured rows can only be drawn, so they need a drawing.
  command->callback([&collective] {
    check_algorithm(collective);
    if (!collective.measured.empty() && collective.svg.empty() && collective.html.empty())
      throw CLI::RequiresError("--measured", "--svg or --html");
    run_collective(collective);
  });
}

}  // namespace foretrain
