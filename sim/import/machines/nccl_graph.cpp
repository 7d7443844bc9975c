// Reader of NCCL_GRAPH_DUMP_FILE: the channels that NCCL's own search found, such as
// <graph id="0" pattern="4" nchannels="12" speedintra="20" typeintra="NVL"><channel><gpu dev="0"/><gpu
// dev="1"/></channel></graph>.
// They describe no machine; graph_check.hpp compares foretrain's search with them.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/machines/xml_source.hpp"

namespace foretrain {

namespace {

/// Limits of graphs, of channels of a graph, and of GPUs of a channel.
constexpr int kMostGraphs = 16, kMostGraphChannels = 64, kMostChannelGpus = 1024;

/// Returns NCCL's pattern by its number (src/include/graph.h: NCCL_TOPO_PATTERN_…); no value for other
/// numbers.
std::optional<nccl::Pattern> pattern_of_number(int number) {
  using enum nccl::Pattern;
  constexpr std::array<nccl::Pattern, 6> kPatterns{balanced_tree, split_tree, tree,
                                                   ring,          nvls,       collnet_direct};
  return number >= 1 && number <= 6 ? std::optional(kPatterns[static_cast<std::size_t>(number - 1)])
                                    : std::nullopt;
}

/// Returns the class of a path by NCCL's name: "LOC", "NVL", … "SYS". P2C of newer versions counts as PHB, an
/// unknown name as SYS.
PathClass path_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(PathClass::net); ++i) {
    if (name_of(static_cast<PathClass>(i)) == name) return static_cast<PathClass>(i);
  }
  return name == "P2C" ? PathClass::phb : PathClass::sys;
}

/// Returns the number of a device, which may be hexadecimal.
int device_number(const pugi::xml_node& node) {
  const std::string text = attribute_of(node, "dev");
  const long value = std::strtol(text.c_str(), nullptr, 0);
  return static_cast<int>(std::clamp(value, -1L, 1'000'000L));
}

/// Reads a channel. The adapters of a channel stand before and behind its GPUs.
nccl::ChannelPath channel_of(const pugi::xml_node& channel) {
  nccl::ChannelPath path;
  for (const pugi::xml_node part : channel.children()) {
    const std::string_view name = part.name();
    if (name == "gpu" && path.gpus.size() < kMostChannelGpus) path.gpus.push_back(device_number(part));
    if (name == "net") (path.gpus.empty() ? path.nic_in : path.nic_out) = device_number(part);
  }
  return path;
}

/// Returns a rate in GB/s, bounded against nonsense.
double graph_rate(const pugi::xml_node& graph, const char* name) {
  return std::clamp(graph.attribute(name).as_double(), 0.0, 1e5);
}

/// Reads one graph and reports what contradicts itself.
void read_graph(const pugi::xml_node& node, const XmlSource& xml, Diagnostics& diagnostics,
                Machine& machine) {
  const auto pattern = pattern_of_number(node.attribute("pattern").as_int());
  if (!pattern)
    return diagnostics.report(xml.span_of(node),
                              fmt::format("no pattern has the number \"{}\"", attribute_of(node, "pattern")),
                              "1 to 6: balanced, split and plain trees, ring, NVLS, CollNet direct");
  nccl::GraphResult graph;
  graph.pattern = *pattern;
  graph.bw_intra = graph_rate(node, "speedintra");
  graph.bw_inter = graph_rate(node, "speedinter");
  graph.type_intra = path_named(attribute_of(node, "typeintra"));
  graph.type_inter = path_named(attribute_of(node, "typeinter"));
  graph.same_channels = node.attribute("samechannels").as_int() != 0;
  graph.cross_nic = node.attribute("crossnic").as_int() == 1;
  for (const pugi::xml_node channel : node.children("channel")) {
    if (static_cast<int>(graph.paths.size()) < kMostGraphChannels) graph.paths.push_back(channel_of(channel));
  }
  graph.channels = std::clamp(node.attribute("nchannels").as_int(), 0, kMostGraphChannels);
  // A file that was cut off has fewer channels than it announces.
  if (graph.channels != static_cast<int>(graph.paths.size()))
    diagnostics.report(xml.span_of(node),
                       fmt::format("nchannels is {}, and {} stand here", graph.channels, graph.paths.size()),
                       "the file was cut, or edited by hand");
  machine.graphs.push_back(std::move(graph));
}

}  // namespace

bool is_nccl_graph(std::string_view text) { return holds(text.substr(0, 4000), "<graphs"); }

Machine read_nccl_graph(const SourceText& source, Diagnostics& diagnostics) {
  const XmlSource xml(source, diagnostics);
  const pugi::xml_node graphs = xml.root("graphs");
  Machine machine;
  machine.place = {source.name, xml.span_of(graphs).line};
  for (const pugi::xml_node graph : graphs.children("graph")) {
    if (static_cast<int>(machine.graphs.size()) < kMostGraphs) read_graph(graph, xml, diagnostics, machine);
  }
  if (machine.graphs.empty() && diagnostics.empty())
    diagnostics.report(xml.span_of(graphs), "no <graph> in it", "run with NCCL_GRAPH_DUMP_FILE=graph.xml");
  return machine;
}

}  // namespace foretrain
