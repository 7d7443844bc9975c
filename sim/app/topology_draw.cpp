// The command topology draw, which writes a picture of a node as SVG or for Graphviz, and the channels that
// `topology show --channels` prints.
//
// `foretrain topology draw NAME -o FILE.svg` writes the drawing of report/drawing. A file with another ending
// is wrong input (exit code 1).
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/app/commands.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/report/collective/channel_listing.hpp"
#include "sim/report/drawing/topology_drawing.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/sections/collective_sections.hpp"

namespace foretrain {

namespace {

/// Returns the settings of NCCL that the options state.
CollectiveKnobs knobs_of(const TopologyCommand& command) {
  std::vector<std::string> settings = command.settings;
  if (!command.nccl_version.empty()) settings.push_back("nccl.version=" + command.nccl_version);
  return read_collective_knobs(settings);
}

/// Returns the number of GPUs of the first `nodes` nodes.
int gpus_of_first(const ClusterSpec& spec, int nodes) {
  int gpus = 0;
  for (const NodeCapacity& room : node_capacities_of(spec, nodes)) gpus += room.gpus;
  return gpus;
}

/// Returns NCCL's view of the job. Without a number of GPUs it has all GPUs of the requested nodes, or of one
/// node.
nccl::Job job_of(const TopologyCommand& command, ClusterSpec spec) {
  const CollectiveKnobs knobs = knobs_of(command);
  if (knobs.gpudirect) visit_nodes(spec, [&](NodeSpec& node) { node.gpudirect = *knobs.gpudirect; });
  const int all = gpus_of_first(spec, std::clamp(command.nodes, 1, spec.nodes)),
            gpus = command.gpus != 0 ? command.gpus : all;
  const Placement placement = place_job(spec, gpus, command.nodes);
  return nccl::inspect(Cluster::build(spec, placement.nodes), placement, knobs.nccl);
}

}  // namespace

std::string describe_channels(const TopologyCommand& command) {
  const ClusterSpec spec = open_cluster(command.cluster);
  return write_channels(spec.name, job_of(command, spec));
}

void run_topology_draw(const TopologyCommand& command) {
  // The file's ending chooses the format.
  const bool svg = command.output.ends_with(".svg");
  if (!svg && !command.output.ends_with(".dot"))
    throw InputError(fmt::format("no drawing is called {}", command.output), "the name ends in .svg or .dot");
  const ClusterSpec spec = open_cluster(command.cluster);
  std::optional<nccl::Job> job;
  if (command.channels) job = job_of(command, spec);
  const TopologyDrawing drawing{spec, job ? &*job : nullptr, command.nodes};
  write_file(command.output, svg ? draw_topology(drawing) : write_topology_dot(drawing));
}

}  // namespace foretrain
