// The fabric of a cluster file. Keys of all kinds are declared here; further keys of a kind are those of its
// row in the catalog of fabrics.
#include <set>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"

namespace foretrain {

namespace {

/// Returns the names of all kinds of fabric.
std::vector<std::string> fabric_names() {
  std::vector<std::string> names;
  for (const Fabric& fabric : fabrics()) names.emplace_back(fabric.name);
  return names;
}

/// Largest background load. Other jobs that used all of a link would leave nothing for this one.
constexpr double kBusiestNetwork = 0.95;

/// A load that is not stated follows from the kind of site.
void read_background_load(TableReader& table, std::string_view key, FabricSpec& fabric) {
  if (table.has(key)) fabric.background_load = table.number(key, 0, kBusiestNetwork);
}

/// Keys that every kind of fabric has.
Keys<FabricSpec> shared_keys() {
  return {
      {"switch_latency", takes::latency<&FabricSpec::switch_latency>(), "\"0.3 us\"", "0 us",
       "added per switch passed"},
      {"in_network_reduction", takes::flag<&FabricSpec::in_network_reduction>(), "true", "false",
       "switches that reduce (InfiniBand SHARP), used by CollNet"},
      {"nvlink_domain", takes::integer<&FabricSpec::nvlink_domain>(1, kMostNodes), "18", "1",
       "consecutive nodes whose GPUs one NVLink fabric joins, as in an NVL72 rack: to NCCL they are one "
       "node"},
      {"ecmp",
       takes::choice<&FabricSpec::ecmp>(std::vector<Choice<PathChoice>>{
           {"destination", PathChoice::destination}, {"flow", PathChoice::flow}}),
       "\"flow\"", "destination",
       "what chooses between equally short ways: the receiving adapter (InfiniBand's static tables), or a "
       "hash of both ends (Ethernet)"},
      {"background_load",
       {"number from 0 to 0.95", read_background_load},
       "0.05",
       "0.05 at a computing centre, 0.1 in a cloud, else 0: site.kind",
       "mean share of the links between switches that other jobs use"}};
}

/// Reads one table [fabric]; a reader is used once.
class FabricReader {
 public:
  /// A table of [[fabric.links]] while it is read.
  struct Group {
    FabricReader& fabric;
    std::vector<FabricLink>& graph;
    LinkType type{};
    int count = 1;
  };

  explicit FabricReader(TableReader& reader) : reader_(reader) {}

  // The common keys come first: the kind among them decides which options are read.
  FabricSpec read() {
    read_keys(reader_, keys(), *this);
    // Options are those of the kind, which is known at this point.
    const Fabric& kind = *find_fabric(fabric_.kind);
    read_options(kind, fabric_);
    if (has_kind_) check_use(kind);
    reader_.finish();
    return std::move(fabric_);
  }

  /// Keys of every kind of fabric.
  static const Keys<FabricReader>& keys() {
    const auto of_fabric = [](FabricReader& reader) -> FabricSpec& { return reader.fabric_; };
    static const Keys<FabricReader> keys =
        Keys<FabricReader>{{"kind",
                            {fmt::format("{}", fmt::join(fabric_names(), ", ")), &FabricReader::read_kind},
                            "\"fat_tree\"",
                            kRequired,
                            "how the switches are wired: `list fabrics`"},
                           {"link",
                            {"name or path",
                             [](TableReader& table, std::string_view key, FabricReader& fabric) {
                               // The fabric "none" has no link.
                               if (fabric.fabric_.kind != "none") table.require(key, "\"ib_hdr\"");
                               fabric.fabric_.link = fabric.read_link(table, key);
                             }},
                            "\"ib_hdr\"",
                            "required but with none",
                            "adapter to first switch: one of `list networks`, or a file"},
                           {"uplink",
                            {"name or path",
                             [](TableReader& table, std::string_view key, FabricReader& fabric) {
                               fabric.fabric_.uplink = fabric.read_link(table, key);
                             }},
                            "\"ib_hdr\"",
                            "link",
                            "between switches"}} +
        keys_within<FabricReader>(shared_keys(), of_fabric);
    return keys;
  }

  // Keys of [[fabric.links]].
  static const Keys<Group>& group_keys() {
    static const Keys<Group> keys{
        {"link",
         {"name or path",
          [](TableReader& table, std::string_view key, Group& group) {
            if (table.has(key)) group.type = group.fabric.read_link(table, key);
          }},
         "\"ib_hdr\"",
         "fabric.link",
         "of these connections"},
        {"count", takes::integer<&Group::count>(1, kThickestLink), "2", "1",
         "parallel links of a pair; their bandwidths add"},
        {"pairs",
         {"list of pairs", read_pairs},
         R"([["leaf0", "spine0"], ["leaf0", "node0-17"]])",
         kRequired,
         "two switches, or a switch and a node, a range of nodes, or one of their adapters (node0-17.nic1)"}};
    return keys;
  }

 private:
  // An unknown kind is reported, and the table is read as that of no fabric.
  static void read_kind(TableReader& table, std::string_view key, FabricReader& fabric) {
    const auto kind = table.one_of(key, fabric_names());
    fabric.has_kind_ = kind.has_value();
    fabric.fabric_.kind = kind.value_or("none");
  }

  // Reads a link and reports it unless it is a network link.
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

  /// Reads the keys of the fabric's own kind. Keys of other kinds are read only to report mistakes in them.
  void read_options(const Fabric& kind, FabricSpec& fabric) {
    std::set<std::string_view> own;
    for (const FabricKey& key : kind.keys) own.insert(key.name), read_option(key, fabric);
    // Names that the own kind has, and names that were read before, are not read again.
    for (const Fabric& other : fabrics()) {
      FabricSpec unused;
      for (const FabricKey& key : other.keys) {
        if (own.insert(key.name).second) read_option(key, unused);
      }
    }
  }

  // Reads an option as the type that its row states.
  void read_option(const FabricKey& key, FabricSpec& fabric) {
    std::visit([&](const auto& value) { read_value(key, value, fabric); }, key.value);
  }
  // Reads an integer within the limits of its row; a missing key leaves the value of FabricSpec.
  void read_value(const FabricKey& key, FabricValue<int> value, FabricSpec& fabric) {
    if (const auto found = reader_.integer(key.name, key.least, key.most))
      value.put(fabric, static_cast<int>(*found));
  }
  // Reads a flag.
  void read_value(const FabricKey& key, FabricValue<bool> value, FabricSpec& fabric) {
    if (const auto found = reader_.boolean(key.name)) value.put(fabric, *found);
  }
  // Reads a list of integers, for example the extents of a torus.
  void read_value(const FabricKey& key, FabricValue<std::vector<int>> value, FabricSpec& fabric) {
    if (const auto found = reader_.integers(key.name, key.least, key.most, kMostDimensions))
      value.put(fabric, {found->begin(), found->end()});
  }
  // Reads the links of an explicit fabric, group by group.
  void read_value(const FabricKey& key, FabricValue<std::vector<FabricLink>> value, FabricSpec& fabric) {
    const Array* groups = reader_.array(key.name, kMostGraphLinks);
    if (groups == nullptr) return;
    std::vector<FabricLink> graph;
    for (const Value& group : *groups) {
      const Table* table = std::get_if<Table>(&group.data);
      if (table == nullptr)
        reader_.report(group.span, "fabric.links holds tables", "write [[fabric.links]]");
      else
        read_group(*table, fabric.link, graph);
    }
    value.put(fabric, std::move(graph));
  }

  /// Reports keys that only other kinds of fabric use, because they would have no effect.
  void check_use(const Fabric& kind) {
    const auto check = [&](std::string_view key, bool used) {
      if (reader_.has(key) && !used)
        reader_.report(reader_.span_of(key),
                       fmt::format("{} is not used by the fabric {}", reader_.full_name(key), kind.name),
                       std::string(kind.name) + ": " + std::string(kind.summary));
    };
    // `uplink` is declared for all kinds, but only some use it.
    std::set<std::string_view> seen{"uplink"};
    check("uplink", kind.takes_uplink);
    for (const FabricKey& key : kind.keys) seen.insert(key.name);
    for (const Fabric& other : fabrics()) {
      for (const FabricKey& key : other.keys) {
        if (seen.insert(key.name).second) check(key.name, false);
      }
    }
  }

  // Reads the connections of a group.
  static void read_pairs(TableReader& table, std::string_view key, Group& group) {
    const Array* pairs = table.array(key, kMostGraphLinks);
    for (const Value& value : pairs != nullptr ? *pairs : Array{}) {
      const auto pair = read_pair(table, value);
      if (!pair) continue;
      // The limit holds for the whole fabric, not for one group.
      if (group.graph.size() >= kMostGraphLinks)
        return table.report(value.span, fmt::format("a fabric may list at most {} links", kMostGraphLinks));
      group.graph.push_back({pair->first, pair->second, group.type, group.count, value.span});
    }
  }

  // Reads one group; its links are those of the fabric unless it names others.
  void read_group(const Table& table, const LinkType& usual, std::vector<FabricLink>& graph) {
    TableReader reader(table, "fabric.links", reader_.diagnostics());
    Group group{*this, graph, usual};
    read_keys(reader, group_keys(), group);
    reader.finish();
  }

  TableReader& reader_;
  FabricSpec fabric_{};
  bool has_kind_ = false;
  PartReader<LinkType> links_{CatalogKind::links, read_link_type};
};

/// The type of a value in words, for the reference page.
struct KindOfValue {
  std::string operator()(const FabricValue<int>&) const { return "integer"; }
  std::string operator()(const FabricValue<bool>&) const { return "true, false"; }
  std::string operator()(const FabricValue<std::vector<int>>&) const { return "list of integers"; }
  std::string operator()(const FabricValue<std::vector<FabricLink>>&) const { return "list of tables"; }
};

/// Returns the reference page's table of one kind of fabric.
KeyTable table_of(const Fabric& kind) {
  KeyTable table{
      fmt::format("`[fabric]` with `kind = \"{}\"`", kind.name), std::string(kind.summary) + ".", {}};
  for (const FabricKey& key : kind.keys)
    table.keys.push_back({std::string(key.name), std::visit(KindOfValue{}, key.value), "",
                          std::string(key.fallback), std::string(key.meaning)});
  return table;
}

}  // namespace

/// Only kinds with keys of their own have a table.
std::vector<KeyTable> fabric_key_tables() {
  std::vector<KeyTable> tables{{"`[fabric]`", "The network between nodes; without the table there is none.",
                                described(FabricReader::keys())}};
  for (const Fabric& kind : fabrics()) {
    if (!kind.keys.empty()) tables.push_back(table_of(kind));
  }
  tables.push_back(
      {"`[[fabric.links]]`", "Of `kind = \"explicit\"`.", described(FabricReader::group_keys())});
  return tables;
}

/// `fabric.kind` is "none" unless the table names another one.
FabricSpec read_fabric(TableReader& document) {
  FabricSpec fabric;
  fabric.kind = "none";
  const Table* table = document.table("fabric");
  if (table != nullptr) {
    TableReader reader(*table, document.full_name("fabric"), document.diagnostics());
    fabric = FabricReader(reader).read();
  }
  fabric.span = document.span_of("fabric");
  return fabric;
}

}  // namespace foretrain
