// The fabric of a cluster file. Which keys a kind needs is checked by its row of the fabrics catalog; here
// each key has its limits.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"

namespace foretrain {

namespace {

struct FabricCountKey {
  std::string_view name;
  int FabricSpec::*member;
  int least, most;
};

constexpr std::array<FabricCountKey, 10> kFabricCounts{
    {{"nodes_per_leaf", &FabricSpec::nodes_per_leaf, 1, kMostNodes},
     {"uplinks_per_leaf", &FabricSpec::uplinks_per_leaf, 1, kMostNodes},
     {"levels", &FabricSpec::levels, 2, 3},
     {"leaves_per_group", &FabricSpec::leaves_per_group, 1, kMostNodes},
     {"uplinks_per_spine", &FabricSpec::uplinks_per_spine, 1, kMostNodes},
     {"groups", &FabricSpec::groups, 1, kMostNodes},
     {"routers_per_group", &FabricSpec::routers_per_group, 1, kMostNodes},
     {"nodes_per_router", &FabricSpec::nodes_per_router, 1, kMostNodes},
     {"parallel_links", &FabricSpec::parallel_links, 1, 1024},
     {"global_links", &FabricSpec::global_links, 1, kMostNodes}}};

std::vector<std::string> fabric_names() {
  std::vector<std::string> names;
  for (const Fabric& fabric : fabrics()) names.emplace_back(fabric.name);
  return names;
}

class FabricReader {
 public:
  explicit FabricReader(TableReader& reader) : reader_(reader) {}

  FabricSpec read() {
    FabricSpec fabric;
    reader_.require("kind", "\"fat_tree\"");
    const auto kind = reader_.one_of("kind", fabric_names());
    fabric.kind = kind.value_or("none");
    if (fabric.kind != "none") reader_.require("link", "\"ib_hdr\"");
    fabric.link = read_link(reader_, "link");
    fabric.uplink = read_link(reader_, "uplink");
    fabric.switch_latency = reader_.time("switch_latency", kLatencyRange).value_or(Time::zero());
    for (const FabricCountKey& key : kFabricCounts)
      fabric.*key.member =
          static_cast<int>(reader_.integer(key.name, key.least, key.most).value_or(fabric.*key.member));
    if (const auto sizes = reader_.integers("dimensions", 1, kMostNodes, kMostDimensions))
      for (const std::int64_t size : *sizes) fabric.dimensions.push_back(static_cast<int>(size));
    fabric.in_network_reduction = reader_.boolean("in_network_reduction").value_or(false);
    fabric.spread_nics = reader_.boolean("spread_nics").value_or(false);
    if (reader_.one_of("ecmp", {"destination", "flow"}) == "flow") fabric.ecmp = PathChoice::flow;
    read_graph(fabric);
    if (kind) check_use(*find_fabric(*kind));
    reader_.finish();
    return fabric;
  }

 private:
  LinkType read_link(TableReader& reader, std::string_view key) {
    const std::size_t before = reader.diagnostics().found().size();
    LinkType type = links_.read(reader, key);
    if (!reader.has(key) || type.name.empty() || type.kind == LinkKind::network ||
        reader.diagnostics().found().size() > before)
      return type;
    reader.report(reader.span_of(key),
                  fmt::format("{} must be a network link, {} is not", reader.full_name(key), type.name),
                  "such as ib_hdr or eth_100_tcp");
    return type;
  }

  /// A key that another kind reads would be without effect here.
  void check_use(const Fabric& kind) {
    const auto takes = [&](std::string_view key) {
      return std::find(kind.keys.begin(), kind.keys.end(), key) != kind.keys.end();
    };
    const auto check = [&](std::string_view key) {
      if (reader_.has(key) && !takes(key))
        reader_.report(reader_.span_of(key),
                       fmt::format("{} is not used by the fabric {}", reader_.full_name(key), kind.name),
                       std::string(kind.name) + ": " + std::string(kind.summary));
    };
    for (const std::string_view key : {"uplink", "dimensions", "links", "spread_nics"}) check(key);
    for (const FabricCountKey& key : kFabricCounts) check(key.name);
  }

  void read_graph(FabricSpec& fabric) {
    const Array* groups = reader_.array("links", kMostGraphLinks);
    if (groups == nullptr) return;
    for (const Value& value : *groups) {
      const Table* table = std::get_if<Table>(&value.data);
      if (table == nullptr)
        reader_.report(value.span, "fabric.links holds tables", "write [[fabric.links]]");
      else
        read_group(*table, fabric);
    }
  }

  void read_group(const Table& table, FabricSpec& fabric) {
    TableReader group(table, "fabric.links", reader_.diagnostics());
    group.require("pairs", R"([["leaf0", "spine0"], ["leaf0", "node0-17"]])");
    const LinkType own = read_link(group, "link");
    const LinkType& type = group.has("link") ? own : fabric.link;
    const int count = static_cast<int>(group.integer("count", 1, 1024).value_or(1));
    const Array* pairs = group.array("pairs", kMostGraphLinks);
    for (const Value& value : pairs != nullptr ? *pairs : Array{}) {
      const auto pair = read_pair(group, value);
      if (!pair) continue;
      if (fabric.graph.size() >= kMostGraphLinks)
        return group.report(value.span, fmt::format("a fabric may list at most {} links", kMostGraphLinks));
      fabric.graph.push_back({pair->first, pair->second, type, count, value.span});
    }
    group.finish();
  }

  TableReader& reader_;
  PartReader<LinkType> links_{CatalogKind::links, read_link_type};
};

}  // namespace

FabricSpec read_fabric(TableReader& document) {
  FabricSpec fabric;
  fabric.kind = "none";
  const Table* table = document.table("fabric");
  if (table != nullptr) {
    TableReader reader(*table, "fabric", document.diagnostics());
    fabric = FabricReader(reader).read();
  }
  fabric.span = document.span_of("fabric");
  return fabric;
}

}  // namespace foretrain
