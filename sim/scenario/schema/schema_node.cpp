// The node of a cluster file, and node templates. A node with a template starts from the template: keys
// replace its values, links are added to its links, and whoever sets `nics` or `nics_at` describes the
// connections of all NICs anew.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

struct NodeCountKey {
  std::string_view name;
  int NodeSpec::*member;
  int least, most;
};

constexpr std::array<NodeCountKey, 5> kNodeCounts{
    {{"gpus", &NodeSpec::gpus, 1, kMostGpusPerNode},
     {"cpus", &NodeSpec::cpus, 1, kMostCpusPerNode},
     {"switches", &NodeSpec::switches, 0, kMostSwitchesPerNode},
     {"nvswitches", &NodeSpec::nvswitches, 0, kMostSwitchesPerNode},
     {"nics", &NodeSpec::nics, 0, kMostNicsPerNode}}};

struct FlagKey {
  std::string_view name;
  bool NodeSpec::*member;
};

constexpr std::array<FlagKey, 3> kFlags{{{"peer_access", &NodeSpec::peer_access},  //
                                         {"gpudirect", &NodeSpec::gpudirect},
                                         {"multicast", &NodeSpec::multicast}}};

/// In the order of HostFamily.
const std::vector<std::string>& family_names() {
  static const std::vector<std::string> names{"intel_broadwell",
                                              "intel_skylake",
                                              "intel_sapphire_rapids",
                                              "intel_emerald_rapids",
                                              "amd",
                                              "power9",
                                              "arm"};
  return names;
}

constexpr std::array<PathClass, 5> kReaches{PathClass::pix, PathClass::pxb, PathClass::pxn, PathClass::phb,
                                            PathClass::sys};

PathClass read_reach(TableReader& reader, PathClass fallback) {
  std::vector<std::string> names;
  for (const PathClass reach : kReaches) names.emplace_back(name_of(reach));
  const auto name = reader.one_of("gpudirect_reach", names);
  return name ? kReaches[static_cast<std::size_t>(std::find(names.begin(), names.end(), *name) -
                                                  names.begin())]
              : fallback;
}

bool touches_nic(const NodeLink& link) { return link.a.starts_with("nic") || link.b.starts_with("nic"); }

/// "links" below [node], "host" below a template's document.
std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

NodeSpec NodeReader::read(const Table& table, std::string path) {
  TableReader reader(table, path, diagnostics_);
  from_template_ = !path.empty() && reader.has("template");
  if (from_template_) node_ = templates_.read(reader, "template");
  for (NodeLink& link : node_.links) link.span = reader.span_of("template");
  if (!from_template_) {
    reader.require("gpus", "4");
    reader.require("gpu", "\"a100-sxm4-40gb\"");
    reader.require("host", path.empty() ? "[host]" : "[node.host]");
    reader.require("links", path.empty() ? "[[links]]" : "[[node.links]]");
  }
  read_counts(reader);
  if (!from_template_ || reader.has("gpu")) node_.gpu = gpus_.read(reader, "gpu");
  node_.gpu.sustained_clock *= reader.number("gpu_clock", 0.1, 1).value_or(1);
  read_switches_of_behaviour(reader);
  if (const Table* host = reader.table("host")) read_host(*host, below(path, "host"));
  read_links(reader);
  read_nic_places(reader);
  if (path.empty())
    reader.string("description");
  else
    reader.string("template");
  reader.finish();
  return std::move(node_);
}

void NodeReader::read_counts(TableReader& reader) {
  for (const NodeCountKey& key : kNodeCounts) {
    const int fallback = from_template_ ? node_.*key.member : key.least;
    node_.*key.member = static_cast<int>(reader.integer(key.name, key.least, key.most).value_or(fallback));
  }
}

void NodeReader::read_switches_of_behaviour(TableReader& reader) {
  for (const FlagKey& key : kFlags) node_.*key.member = reader.boolean(key.name).value_or(node_.*key.member);
  node_.gpudirect_reach = read_reach(reader, node_.gpudirect_reach);
}

void NodeReader::read_host(const Table& table, std::string path) {
  TableReader reader(table, std::move(path), diagnostics_);
  Host& host = node_.host;
  if (!from_template_) {
    reader.require("cores", "40");
    reader.require("slowdown", "2.0");
    reader.require("memory_bandwidth", "\"10 GBps\"");
  }
  host.cpu = reader.string("cpu").value_or(host.cpu);
  host.cores = static_cast<int>(reader.integer("cores", 1, 1024).value_or(host.cores));
  host.slowdown = reader.number("slowdown", 0.1, 20).value_or(host.slowdown);
  host.memory = reader.bytes("memory").value_or(host.memory);
  const auto copy_rate = reader.byte_rate("memory_bandwidth");
  if (copy_rate && !(copy_rate->per_second > 0))
    reader.report(reader.span_of("memory_bandwidth"),
                  reader.full_name("memory_bandwidth") + " must be more than zero");
  host.memory_bandwidth = copy_rate.value_or(host.memory_bandwidth);
  const auto& families = family_names();
  if (const auto family = reader.one_of("family", families))
    host.family =
        static_cast<HostFamily>(std::find(families.begin(), families.end(), *family) - families.begin());
  reader.finish();
}

void NodeReader::read_links(TableReader& reader) {
  if (reader.has("nics") || reader.has("nics_at")) std::erase_if(node_.links, touches_nic);
  const Array* tables = reader.array("links", kMostNodeLinks);
  if (tables == nullptr) return;
  for (const Value& value : *tables) {
    const Table* table = std::get_if<Table>(&value.data);
    if (table == nullptr) {
      reader.report(value.span, fmt::format("{} holds tables", reader.full_name("links")),
                    fmt::format("write [[{}]]", reader.full_name("links")));
      continue;
    }
    read_link_group(*table, value.span, reader.full_name("links"));
  }
}

/// nics_at = ["switch0", "cpu1"] is two NICs and their links; nic_link says which link.
void NodeReader::read_nic_places(TableReader& reader) {
  const auto places = reader.strings("nics_at", kMostNicsPerNode);
  const LinkType type = links_.read(reader, "nic_link");
  if (!places) return;
  if (reader.has("nics") && node_.nics != static_cast<int>(places->size()))
    reader.report(reader.span_of("nics"),
                  fmt::format("{} does not fit {}, which has {} entries", reader.full_name("nics"),
                              reader.full_name("nics_at"), places->size()),
                  "leave it out: the list says how many there are");
  if (!reader.has("nic_link")) reader.require("nic_link", "\"pcie4_x16\"");
  node_.nics = static_cast<int>(places->size());
  if (type.name.empty()) return;
  for (std::size_t i = 0; i < places->size(); ++i)
    add_link(reader, {fmt::format("nic{}", i), (*places)[i], type, 1, reader.span_of("nics_at")});
}

void NodeReader::read_link_group(const Table& table, SourceSpan span, std::string path) {
  TableReader reader(table, std::move(path), diagnostics_);
  reader.require("link", "\"pcie4_x16\"");
  const LinkType type = links_.read(reader, "link");
  const int count = static_cast<int>(reader.integer("count", 1, 1024).value_or(1));
  if (reader.has("mesh") == reader.has("pairs"))
    reader.report(span,
                  reader.has("mesh") ? "a group of links has mesh or pairs, not both"
                                     : "a group of links needs mesh or pairs",
                  R"(mesh = ["gpu0", "gpu1"] links every pair, pairs = [["gpu0", "cpu0"]] the pairs named)");
  if (reader.has("mesh")) add_mesh(reader, type, count);
  if (reader.has("pairs")) add_pairs(reader, type, count);
  reader.finish();
}

void NodeReader::add_link(TableReader& reader, NodeLink link) {
  if (node_.links.size() < kMostNodeLinks) return node_.links.push_back(std::move(link));
  reader.report(link.span, fmt::format("a node may have at most {} links", kMostNodeLinks));
}

void NodeReader::add_mesh(TableReader& reader, const LinkType& type, int count) {
  const auto devices = reader.strings("mesh", kMostGpusPerNode);
  if (!devices) return;
  for (std::size_t a = 0; a < devices->size(); ++a) {
    for (std::size_t b = a + 1; b < devices->size(); ++b)
      add_link(reader, {(*devices)[a], (*devices)[b], type, count, reader.span_of("mesh")});
  }
}

void NodeReader::add_pairs(TableReader& reader, const LinkType& type, int count) {
  const Array* pairs = reader.array("pairs", kMostNodeLinks);
  if (pairs == nullptr) return;
  for (const Value& value : *pairs) {
    if (const auto pair = read_pair(reader, value))
      add_link(reader, {pair->first, pair->second, type, count, value.span});
  }
}

std::optional<std::pair<std::string, std::string>> read_pair(TableReader& reader, const Value& value) {
  const Array* pair = std::get_if<Array>(&value.data);
  const bool two = pair != nullptr && pair->size() == 2;
  const std::string* a = two ? std::get_if<std::string>(&(*pair)[0].data) : nullptr;
  const std::string* b = two ? std::get_if<std::string>(&(*pair)[1].data) : nullptr;
  if (a != nullptr && b != nullptr) return std::pair(*a, *b);
  reader.report(value.span, "a pair is two device names", R"(as in ["gpu0", "cpu0"])");
  return std::nullopt;
}

NodeSpec read_node_template(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  ClusterSpec alone;
  alone.node = NodeReader(diagnostics).read(table, "");
  alone.fabric.kind = "none";
  if (!diagnostics.empty()) return alone.node;
  for (const ClusterFault& fault : check(alone)) {
    if (diagnostics.found().size() >= Diagnostics::kMostDiagnostics) break;
    const SourceSpan span =
        fault.link >= 0 ? alone.node.links[static_cast<std::size_t>(fault.link)].span : SourceSpan{};
    diagnostics.report(span, fault.message, fault.hint);
  }
  return alone.node;
}

}  // namespace foretrain
