// The cluster file: node, its links, fabric. Faults that check() finds are shown at the link or table they belong to.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/schemas.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostNodeLinks = 4096;

std::vector<std::string> fabric_names() {
  std::vector<std::string> names;
  for (const Fabric& fabric : fabrics()) names.emplace_back(fabric.name);
  return names;
}

/// Looks a part up in its catalog and reads it; mistakes inside its file are shown there. A name is looked up once, and reported once.
template <class Part>
class PartReader {
 public:
  using Reader = Part (*)(const SourceText&, Diagnostics&);
  PartReader(CatalogKind kind, Reader reader) : kind_(kind), reader_(reader) {}

  Part read(TableReader& table, std::string_view key) {
    const auto name = table.string(key);
    if (!name) return {};
    const auto known = parts_.find(*name);
    if (known != parts_.end()) return known->second;
    const auto source = find_named(kind_, *name, table.span_of(key), table.diagnostics());
    if (!source) return parts_.emplace(*name, Part{}).first->second;
    Diagnostics own(*source);
    Part part = reader_(*source, own);
    table.diagnostics().include(own.found());
    return parts_.emplace(*name, std::move(part)).first->second;
  }

 private:
  CatalogKind kind_;
  Reader reader_;
  std::map<std::string, Part> parts_;
};

class ClusterReader {
 public:
  ClusterReader(const SourceText& source, Diagnostics& diagnostics) : source_(source), diagnostics_(diagnostics) {}

  ClusterSpec read() {
    const Table table = parse_toml(source_, diagnostics_);
    TableReader document(table, "", diagnostics_);
    spec_.name = std::filesystem::path(source_.name).stem().string();
    spec_.description = document.string("description").value_or("");
    document.require("nodes", "24");
    document.require("node", "[node]");
    spec_.nodes = static_cast<int>(document.integer("nodes", 1, kMostNodes).value_or(1));
    if (const Table* node = document.table("node")) read_node(*node);
    node_span_ = document.span_of("node");
    nodes_span_ = document.span_of("nodes");
    read_fabric(document);
    document.finish();
    if (diagnostics_.empty()) report_faults();
    return std::move(spec_);
  }

 private:
  void read_node(const Table& table) {
    TableReader reader(table, "node", diagnostics_);
    reader.require("gpus", "4");
    reader.require("gpu", "\"a100-sxm4-40gb\"");
    reader.require("host", "[node.host]");
    reader.require("links", "[[node.links]]");
    const auto count = [&](std::string_view key, int least, int most) {
      return static_cast<int>(reader.integer(key, least, most).value_or(least));
    };
    NodeSpec& node = spec_.node;
    node.gpus = count("gpus", 1, kMostGpusPerNode);
    node.cpus = count("cpus", 1, kMostCpusPerNode);
    node.switches = count("switches", 0, kMostSwitchesPerNode);
    node.nvswitches = count("nvswitches", 0, kMostSwitchesPerNode);
    node.nics = count("nics", 0, kMostNicsPerNode);
    node.gpu = gpus_.read(reader, "gpu");
    node.peer_access = reader.boolean("peer_access").value_or(true);
    if (const Table* host = reader.table("host")) read_host(*host);
    read_links(reader);
    reader.finish();
  }

  void read_host(const Table& table) {
    TableReader reader(table, "node.host", diagnostics_);
    Host& host = spec_.node.host;
    reader.require("cores", "40");
    reader.require("slowdown", "2.0");
    reader.require("memory_bandwidth", "\"10 GBps\"");
    host.cpu = reader.string("cpu").value_or("");
    host.cores = static_cast<int>(reader.integer("cores", 1, 1024).value_or(1));
    host.slowdown = reader.number("slowdown", 0.1, 20).value_or(1);
    host.memory = reader.bytes("memory").value_or(Bytes{});
    const auto copy_rate = reader.byte_rate("memory_bandwidth");
    if (copy_rate && !(copy_rate->per_second > 0))
      reader.report(reader.span_of("memory_bandwidth"), "node.host.memory_bandwidth must be more than zero");
    host.memory_bandwidth = copy_rate.value_or(ByteRate{});
    reader.finish();
  }

  void read_links(TableReader& node) {
    const Array* tables = node.array("links", kMostNodeLinks);
    if (tables == nullptr) return;
    for (const Value& value : *tables) {
      const Table* table = std::get_if<Table>(&value.data);
      if (table == nullptr) {
        node.report(value.span, "node.links holds tables", "write [[node.links]]");
        continue;
      }
      read_link_group(*table, value.span);
    }
  }

  void read_link_group(const Table& table, SourceSpan span) {
    TableReader reader(table, "node.links", diagnostics_);
    reader.require("link", "\"pcie4_x16\"");
    const LinkType type = links_.read(reader, "link");
    const int count = static_cast<int>(reader.integer("count", 1, 1024).value_or(1));
    if (reader.has("mesh") == reader.has("pairs"))
      reader.report(span, reader.has("mesh") ? "a group of links has mesh or pairs, not both" : "a group of links needs mesh or pairs",
                    R"(mesh = ["gpu0", "gpu1"] links every pair, pairs = [["gpu0", "cpu0"]] the pairs named)");
    if (reader.has("mesh")) add_mesh(reader, type, count);
    if (reader.has("pairs")) add_pairs(reader, type, count);
    reader.finish();
  }

  void add_link(TableReader& reader, NodeLink link) {
    if (spec_.node.links.size() < kMostNodeLinks) return spec_.node.links.push_back(std::move(link));
    reader.report(link.span, fmt::format("a node may have at most {} links", kMostNodeLinks));
  }

  void add_mesh(TableReader& reader, const LinkType& type, int count) {
    const auto devices = reader.strings("mesh", kMostGpusPerNode);
    if (!devices) return;
    for (std::size_t a = 0; a < devices->size(); ++a) {
      for (std::size_t b = a + 1; b < devices->size(); ++b)
        add_link(reader, {(*devices)[a], (*devices)[b], type, count, reader.span_of("mesh")});
    }
  }

  void add_pairs(TableReader& reader, const LinkType& type, int count) {
    const Array* pairs = reader.array("pairs", kMostNodeLinks);
    if (pairs == nullptr) return;
    for (const Value& value : *pairs) {
      const Array* pair = std::get_if<Array>(&value.data);
      const bool two = pair != nullptr && pair->size() == 2;
      const std::string* a = two ? std::get_if<std::string>(&(*pair)[0].data) : nullptr;
      const std::string* b = two ? std::get_if<std::string>(&(*pair)[1].data) : nullptr;
      if (a == nullptr || b == nullptr) {
        reader.report(value.span, "a pair is two device names", R"(as in ["gpu0", "cpu0"])");
        continue;
      }
      add_link(reader, {*a, *b, type, count, value.span});
    }
  }

  LinkType read_network_link(TableReader& reader, std::string_view key) {
    const std::size_t before = diagnostics_.found().size();
    LinkType type = links_.read(reader, key);
    if (!reader.has(key) || type.name.empty() || type.kind == LinkKind::network || diagnostics_.found().size() > before) return type;
    reader.report(reader.span_of(key), fmt::format("{} must be a network link, {} is not", reader.full_name(key), type.name),
                  "such as ib_hdr or eth_100_tcp");
    return type;
  }

  void read_fabric(TableReader& document) {
    FabricSpec& fabric = spec_.fabric;
    fabric.kind = "none";
    fabric.span = document.span_of("fabric");
    const Table* table = document.table("fabric");
    if (table == nullptr) return;
    TableReader reader(*table, "fabric", diagnostics_);
    reader.require("kind", "\"fat_tree\"");
    fabric.kind = reader.one_of("kind", fabric_names()).value_or("none");
    if (fabric.kind != "none") reader.require("link", "\"ib_hdr\"");
    fabric.link = read_network_link(reader, "link");
    fabric.uplink = read_network_link(reader, "uplink");
    fabric.switch_latency = reader.time("switch_latency").value_or(Time::zero());
    fabric.nodes_per_leaf = static_cast<int>(reader.integer("nodes_per_leaf", 1, kMostNodes).value_or(0));
    fabric.uplinks_per_leaf = static_cast<int>(reader.integer("uplinks_per_leaf", 1, kMostNodes).value_or(0));
    reader.finish();
  }

  /// A link's own place; what the fabric finds belongs to [fabric], or to `nodes` where that table is missing; the rest to [node].
  SourceSpan span_of(const ClusterFault& fault, const std::vector<ClusterFault>& of_fabric) const {
    if (fault.link >= 0) return spec_.node.links[static_cast<std::size_t>(fault.link)].span;
    const bool found_by_fabric =
        std::any_of(of_fabric.begin(), of_fabric.end(), [&](const ClusterFault& other) { return other.message == fault.message; });
    if (!found_by_fabric) return node_span_;
    return spec_.fabric.span.line > 0 ? spec_.fabric.span : nodes_span_;
  }

  void report_faults() {
    const std::vector<ClusterFault> faults = check(spec_);
    if (faults.empty()) return;
    const std::vector<ClusterFault> of_fabric = find_fabric(spec_.fabric.kind)->check(spec_);
    for (const ClusterFault& fault : faults) {
      if (diagnostics_.found().size() < Diagnostics::kMostDiagnostics)
        diagnostics_.report(span_of(fault, of_fabric), fault.message, fault.hint);
    }
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  ClusterSpec spec_;
  SourceSpan node_span_, nodes_span_;
  PartReader<Gpu> gpus_{CatalogKind::gpus, read_gpu};
  PartReader<LinkType> links_{CatalogKind::links, read_link_type};
};

}  // namespace

ClusterSpec read_cluster(const SourceText& source, Diagnostics& diagnostics) { return ClusterReader(source, diagnostics).read(); }

}  // namespace foretrain
