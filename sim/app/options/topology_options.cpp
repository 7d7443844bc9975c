// Options of `topology` and its commands show, check, draw, new, import, detect, diff and questions.
#include "sim/app/options/topology_options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/training_options.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Adds --channels and the job whose channels are shown or drawn. The job's options need --channels.
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

/// Returns the layout of that name. IsMember has accepted the name, so it is one of the table.
NvlinkLayout layout_named(const std::string& name) {
  const auto found = std::find(kNvlinkLayoutNames.begin(), kNvlinkLayoutNames.end(), name);
  return static_cast<NvlinkLayout>(found - kNvlinkLayoutNames.begin());
}

/// Adds `topology new`, which writes a cluster file from the catalogs.
void add_topology_new(CLI::App& topology, NewClusterCommand& command) {
  CLI::App* create = topology.add_subcommand(
      "new",
      "A first cluster file for your own machine, made from the catalogs, with every assumption marked");
  NewCluster& cluster = command.cluster;
  // Everything that is not stated comes from the catalogs and is marked as assumed in the file.
  create->add_option("--gpu", cluster.gpu, "One of `list gpus`, or a file")->required()->type_name("NAME");
  create->add_option("--gpus-per-node", cluster.gpus_per_node, "GPUs of a node")
      ->required()
      ->check(CLI::Range(1, kMostGpusPerNode))
      ->type_name("N");
  create->add_option("--nodes", cluster.nodes, "Nodes")
      ->check(CLI::Range(1, kMostNodes))
      ->type_name("N")
      ->capture_default_str();
  create->add_option("--network", cluster.network, "Between nodes: one of `list networks`, or a file")
      ->type_name("NAME");
  const std::vector<std::string> layouts(kNvlinkLayoutNames.begin(), kNvlinkLayoutNames.end());
  create
      ->add_option_function<std::string>(
          "--nvlink", [&cluster](const std::string& name) { cluster.nvlink = layout_named(name); },
          "What NVLinks join: nothing, two and two GPUs, every pair, all through NVSwitches; otherwise what "
          "boards with this GPU have")
      ->check(CLI::IsMember(layouts))
      ->type_name(joined(layouts));
  create->add_option("-o,--output", command.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  create->footer(
      "Examples:\n  foretrain topology new --gpu l40s --gpus-per-node 4 --nodes 2 --network roce_100 -o "
      "mine.toml\n  foretrain topology new --gpu rtx-3090 --gpus-per-node 4 --nvlink pairs");
  create->callback([&command] { run_topology_new(command); });
}

/// Adds facts that the user gives because files and tools do not state them.
void add_answers(CLI::App& command, ImportAnswers& answers) {
  command
      .add_option("--gpu", answers.gpu, "Where nothing names it, or another: one of `list gpus`, or a file")
      ->type_name("NAME");
  command.add_option("--gpus-per-node", answers.gpus_per_node, "Where nothing counts them")
      ->check(CLI::Range(1, kMostGpusPerNode))
      ->type_name("N");
  command.add_option("--nodes", answers.nodes, "How many there are; otherwise as files or Slurm say, or 1")
      ->check(CLI::Range(1, kMostNodes))
      ->type_name("N");
  command
      .add_option("--network", answers.network,
                  "Between nodes; otherwise by the adapters: one of `list networks`")
      ->type_name("NAME");
}

/// Adds `topology detect`, which writes a cluster file of this machine.
void add_topology_detect(CLI::App& topology, DetectClusterCommand& command) {
  CLI::App* detect = topology.add_subcommand("detect",
                                             "A cluster file of the machine this runs on: its CPUs, GPUs and "
                                             "adapters by sysfs, hwloc and NVML, nodes "
                                             "and switches by Slurm, with every assumption marked");
  detect
      ->add_option("--root", command.root,
                   "Read sys/ and proc/ of another machine in this folder instead, and nothing else")
      ->type_name("FOLDER");
  add_answers(*detect, command.answers);
  detect->add_option("-o,--output", command.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  detect->footer(
      "Examples:\n  foretrain topology detect -o mine.toml\n  srun -N1 --exclusive foretrain topology detect "
      "--nodes 16 -o mine.toml\n  foretrain topology detect --root node07/ -o node07.toml");
  detect->callback([&command] { run_topology_detect(command); });
}

/// Adds `topology diff`, which prints the differences of two clusters.
void add_topology_diff(CLI::App& topology, DiffClusterCommand& command) {
  CLI::App* diff = topology.add_subcommand("diff", "What differs between two clusters, in words");
  diff->add_option("A", command.a, "A cluster of the catalog or a file")->required();
  diff->add_option("B", command.b, "Another")->required();
  diff->footer(
      "Devices are compared by their numbers: gpu3 of one with gpu3 of the other.\n"
      "Examples:\n  foretrain topology diff dgx1-v100 dgx1-v100-32gb\n  foretrain topology diff mine.toml "
      "detected.toml");
  diff->callback([&command] { run_topology_diff(command); });
}

/// Adds `topology import`, which writes a cluster file from the output of tools.
void add_topology_import(CLI::App& topology, ImportClusterCommand& command) {
  CLI::App* imported = topology.add_subcommand(
      "import",
      "A cluster file from what the machine's own tools print, several files as one machine, with every "
      "assumption marked");
  imported
      ->add_option(
          "FILE", command.files,
          "Told apart by what they hold; - for standard input, a folder for a copy of sys/ and proc/")
      ->required()
      ->type_name("FILE");
  add_answers(*imported, command.answers);
  imported
      ->add_option("--partition", command.answers.partition,
                   "Of a site with several kinds of node only those of this partition or queue")
      ->type_name("NAME");
  imported->add_option("-o,--output", command.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  // The footer ends with one line for each format that can be read.
  std::string formats;
  for (const MachineFormat& format : machine_formats())
    formats += fmt::format("\n  {:<22} {}", format.name, format.what);
  imported->footer(
      "Examples:\n  nvidia-smi topo -m | foretrain topology import - --gpu a100-sxm4-40gb --nodes 4 -o "
      "mine.toml\n"
      "  foretrain topology import topo.xml fabric.txt -o mine.toml\nFormats:" +
      formats);
  imported->callback([&command] { run_topology_import(command); });
}

/// Adds `topology questions`, which prints commands that would settle the assumptions.
void add_topology_questions(CLI::App& topology, std::string& file) {
  CLI::App* questions = topology.add_subcommand(
      "questions", "The commands that settle what is still assumed of a machine, the most influential first");
  questions->add_option("FILE", file, "A cluster file or name, or a text that `topology import` reads")
      ->required();
  questions->footer(
      "Examples:\n  foretrain topology questions mine.toml\n  foretrain topology questions session.txt");
  questions->callback([&file] { run_topology_questions(file); });
}

}  // namespace

// `check` ends with exit code 1 for a wrong file, and prints warnings for a doubtful one.
void add_topology(CLI::App& app, TopologyOptions& options) {
  CLI::App* command = app.add_subcommand("topology", "Look at a cluster");
  command->require_subcommand(1);
  // show, check and draw take one cluster and share their values, since only one of them can be called.
  CLI::App* show = command->add_subcommand("show", "Links, routes between GPUs, all_reduce on idle links");
  show->add_option("CLUSTER", options.look.cluster, "A cluster of the catalog or a file")->required();
  add_channel_options(
      *show, options.look,
      "Show what NCCL finds for a job instead: channels by pattern, what runs, trees between nodes");
  show->footer(
      "Examples:\n  foretrain topology show puhti\n  foretrain topology show dgx1-v100 --channels\n  "
      "foretrain topology show dgx-h100 "
      "--channels --nodes 4 --nccl-version 2.18.3");
  show->callback([&options] { run_topology_show(options.look); });
  add_topology_new(*command, options.make);
  add_topology_import(*command, options.read);
  add_topology_questions(*command, options.questioned);
  add_topology_detect(*command, options.detect);
  CLI::App* check = command->add_subcommand(
      "check", "Every mistake in a cluster file; what it describes, in words; what looks wrong");
  check->add_option("CLUSTER", options.look.cluster, "A cluster of the catalog or a file")->required();
  check->footer("Example:\n  foretrain topology check mahti");
  check->callback([&options] { run_topology_check(options.look); });
  add_topology_diff(*command, options.diff);
  CLI::App* draw = command->add_subcommand("draw", "A node as a picture: devices, links, rings");
  draw->add_option("CLUSTER", options.look.cluster, "A cluster of the catalog or a file")->required();
  draw->add_option("-o,--output", options.look.output, "FILE.svg, or FILE.dot for Graphviz")
      ->required()
      ->type_name("FILE");
  add_channel_options(*draw, options.look, "Draw NCCL's rings, too");
  draw->footer("Example:\n  foretrain topology draw dgx1-v100 --channels -o dgx1.svg");
  draw->callback([&options] { run_topology_draw(options.look); });
}

}  // namespace foretrain
