// The cluster file: nodes, their links, fabric, storage, site, calibration.
//
// Reading has two stages. First every key is read, and parts are looked up in the catalogs; mistakes are
// collected. Then the cluster is checked as a whole (check()), and its faults are shown at the link or table
// that they belong to. If some parts have mistakes, the parts that are sound are checked all the same, so
// that a user sees as many mistakes as possible at once.
//
// The smallest file with a network:
// nodes = 2
// node = "dgx-a100"
// [fabric]
// kind = "star"
// link = "ib_hdr"
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Reads one cluster file; a reader is used once.
class ClusterReader {
 public:
  ClusterReader(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  /// Reads the cluster as data sheets and measurements of others describe it. Its own calibration is kept
  /// beside it.
  ClusterSpec read() {
    const Table table = parse_toml(source_, diagnostics_);
    TableReader document(table, "", diagnostics_);
    spec_.name = name_of_file(source_.name);
    node_span_ = document.span_of("node");
    nodes_span_ = document.span_of("nodes");
    read_keys(document, keys(), *this);
    document.finish();
    if (diagnostics_.empty())
      report(is_site(spec_) && spec_.nodes <= kMostNodes ? faults_of_site() : check(spec_));
    else
      report_faults_of_parts();
    if (diagnostics_.empty()) check_partitions(document);
    return std::move(spec_);
  }

  // The keys of the document, with functions that know the reader.
  static const Keys<ClusterReader>& keys() {
    static const Keys<ClusterReader> keys =
        keys_within<ClusterReader>(own_keys(),
                                   [](ClusterReader& reader) -> ClusterSpec& { return reader.spec_; }) +
        Keys<ClusterReader>{
            {"nodes", {"integer", read_nodes}, "24", kRequired, "how many there are of `[node]`"},
            {"node", {"table, name or path", read_first_node}, "[node]", kRequired, "`[node]`, below"},
            {"more_nodes",
             {"list of tables", read_more_nodes},
             "[{ name = \"a100\", nodes = 2, node = \"dgx-a100\" }]",
             "none",
             "`[[more_nodes]]`, below: nodes of other kinds"},
            {"fabric",
             {"table", read_network},
             "{ kind = \"star\", link = \"ib_hdr\" }",
             "none",
             "`[fabric]`, below: the network between nodes"},
            {"storage",
             {"table", [](TableReader& document, std::string_view,
                          ClusterReader& cluster) { cluster.spec_.storage = read_storage(document); }},
             "{ nfs = { job_bandwidth = \"1 GBps\" } }",
             "usual figures",
             "`[storage.page_cache]`, `[storage.nvme]`, `[storage.lustre]`, `[storage.nfs]`, below"},
            {"site",
             {"table", [](TableReader& document, std::string_view,
                          ClusterReader& cluster) { cluster.spec_.site = read_site(document); }},
             "{ batch_system = \"slurm\" }",
             "none",
             "`[site]`, below: how jobs get it"},
            {"calibration",
             {"name or path", read_calibration_key},
             "\"mahti\"",
             "none",
             "what was measured on it: a file of `foretrain calibrate fit`"}};
    return keys;
  }

 private:
  // Keys whose value goes straight into the specification.
  static Keys<ClusterSpec> own_keys() {
    return {{"node_kind", takes::text<&ClusterSpec::node_kind>(), "\"v100\"", "node",
             "what those nodes are called beside `[[more_nodes]]`"},
            {"description", takes::text<&ClusterSpec::description>(), "\"two servers in the cellar\"", "none",
             "a line for `foretrain list clusters`"},
            {"machine", takes::text<&ClusterSpec::machine>(), "\"polaris\"", "one of its own",
             "the cluster that this is in another setting: `validate --leave-out cluster` leaves out both"},
            {"collectives_measured", takes::flag<&ClusterSpec::collectives_measured>(), "true", "false",
             "docs/measured has collectives of it, so that intervals are narrower (`tools/fit_spreads`)"},
            {"trainings_measured", takes::flag<&ClusterSpec::trainings_measured>(), "true", "false",
             "the same for trainings"}};
  }

  static void read_nodes(TableReader& document, std::string_view key, ClusterReader& cluster) {
    const auto nodes = document.integer(key, 1, kMostNodes);
    cluster.knows_nodes_ = nodes.has_value();
    cluster.spec_.nodes = static_cast<int>(nodes.value_or(1));
  }

 public:
  /// The parts of a kind of node that were read without a mistake. `devices`: the numbers of devices, which
  /// names of links refer to.
  struct KnownNode {
    bool node = false, devices = false;
    SourceSpan span{};
  };

  static void read_first_node(TableReader& document, std::string_view key, ClusterReader& cluster) {
    cluster.known_.front() = read_node(document, key, cluster.spec_.node, cluster.diagnostics_);
  }

  /// Reads a node. node = "dgx-a100" is short for a table that names a template and changes nothing.
  static KnownNode read_node(TableReader& document, std::string_view key, NodeSpec& into,
                             Diagnostics& diagnostics) {
    const std::size_t before = diagnostics.found().size();
    KnownNode known;
    const Value* value = document.value(key);
    if (value != nullptr && std::holds_alternative<std::string>(value->data)) {
      into = PartReader<NodeSpec>(CatalogKind::nodes, read_node_template).read(document, key);
      for (NodeLink& link : into.links) link.span = value->span;
      known.devices = diagnostics.found().size() == before;
    } else if (const Table* node = document.table(key)) {
      NodeReader reader(diagnostics);
      into = reader.read(*node, document.full_name(key));
      known.devices = reader.knows_devices();
    }
    known.node = value != nullptr && diagnostics.found().size() == before;
    known.span = document.span_of(key);
    return known;
  }

  /// Another kind of node while it is read. It is kept even if it has mistakes, so that later faults name the
  /// right kind.
  struct KindReader {
    ClusterReader& cluster;
    NodeKind kind{};
    KnownNode known{};
  };

  // Keys of [[more_nodes]], with those of the site.
  static Keys<KindReader> kind_keys() {
    return own_kind_keys() + keys_within<KindReader>(kind_site_keys(), [](KindReader& reader) -> NodeKind& {
             return reader.kind;
           });
  }

  static const Keys<KindReader>& own_kind_keys() {
    static const Keys<KindReader> keys{
        {"name",
         {"text",
          [](TableReader& table, std::string_view key, KindReader& reader) {
            const auto name = table.string(key);
            if (name && name->empty())
              table.report(table.span_of(key), "a kind of node needs a name", "as in name = \"a100\"");
            reader.kind.name = name.value_or("");
          }},
         "\"a100\"",
         kRequired,
         "what they are called, in `launch.nodes_of` and in batches by kind"},
        {"nodes",
         {"integer",
          [](TableReader& table, std::string_view key, KindReader& reader) {
            reader.kind.nodes = static_cast<int>(table.integer(key, 1, kMostNodes).value_or(1));
          }},
         "2",
         kRequired,
         "how many there are; they follow the kinds before them in the numbering of nodes"},
        {"node",
         {"table, name or path",
          [](TableReader& table, std::string_view key, KindReader& reader) {
            reader.known = read_node(table, key, reader.kind.node, reader.cluster.diagnostics_);
          }},
         "\"dgx-a100\"",
         kRequired,
         "as `[node]`"},
        {"link",
         {"name, path or table",
          [](TableReader& table, std::string_view key, KindReader& reader) {
            if (table.has(key))
              reader.kind.link = PartReader<LinkType>(CatalogKind::links, read_link_type).read(table, key);
          }},
         "\"ib_edr\"",
         "that of the fabric",
         "from their NICs to the first switch"},
        {"fabric",
         {"table",
          [](TableReader& table, std::string_view, KindReader& reader) {
            if (table.has("fabric")) reader.kind.fabric = read_fabric(table);
          }},
         "{ kind = \"star\", link = \"ib_ndr\" }",
         "they share `[fabric]`",
         "a network of their own, as `[fabric]`"}};
    return keys;
  }

 private:
  static void read_more_nodes(TableReader& document, std::string_view key, ClusterReader& cluster) {
    const Array* tables = document.array(key, kMostNodeKinds - 1);
    if (tables == nullptr) return;
    for (const Value& value : *tables) {
      const Table* table = std::get_if<Table>(&value.data);
      if (table == nullptr) {
        document.report(value.span, "more_nodes holds tables", "write [[more_nodes]]");
        continue;
      }
      const std::size_t before = cluster.diagnostics_.found().size();
      TableReader reader(*table, std::string(key), cluster.diagnostics_);
      KindReader kind{cluster};
      read_keys(reader, kind_keys(), kind);
      reader.finish();
      kind.kind.span = value.span;
      cluster.add_kind(std::move(kind), cluster.diagnostics_.found().size() == before);
    }
  }

  // The total number of nodes is capped above the limit, so that check() reports it.
  void add_kind(KindReader read, bool is_whole) {
    knows_nodes_ = knows_nodes_ && is_whole;
    spec_.nodes =
        static_cast<int>(std::min<std::int64_t>(std::int64_t{spec_.nodes} + read.kind.nodes, kMostNodes + 1));
    known_.push_back(read.known);
    spec_.more_nodes.push_back(std::move(read.kind));
  }

  static void read_network(TableReader& document, std::string_view, ClusterReader& cluster) {
    const std::size_t before = cluster.diagnostics_.found().size();
    cluster.spec_.fabric = read_fabric(document);
    cluster.knows_fabric_ = cluster.diagnostics_.found().size() == before;
  }

  static void read_calibration_key(TableReader& document, std::string_view key, ClusterReader& cluster) {
    if (!document.has(key)) return;
    cluster.spec_.calibration =
        PartReader<Calibration>(CatalogKind::calibrations, read_calibration).read(document, key);
  }

  // Returns whether the fabric's own check found the same fault.
  bool is_of(const ClusterFault& fault, const std::vector<ClusterFault>& faults) const {
    return std::any_of(faults.begin(), faults.end(),
                       [&](const ClusterFault& other) { return other.message == fault.message; });
  }

  /// Returns the place of a fault: a link's own place; for faults of the fabric [fabric], or `nodes` if that
  /// table is missing; otherwise [node].
  SourceSpan span_of(const ClusterFault& fault, const std::vector<ClusterFault>& of_fabric) const {
    if (fault.link >= 0)
      return node_of_kind(spec_, fault.kind).links[static_cast<std::size_t>(fault.link)].span;
    if (fault.fabric_link.line > 0) return fault.fabric_link;
    if (fault.kind > 0) return spec_.more_nodes[static_cast<std::size_t>(fault.kind - 1)].span;
    if (!is_of(fault, of_fabric)) return node_span_;
    return spec_.fabric.span.line > 0 ? spec_.fabric.span : nodes_span_;
  }

  /// Reports faults of the parts that could be read, so that a user need not correct one mistake to see the
  /// next. Links whose kind could not be read have been reported already.
  void report_faults_of_parts() {
    std::vector<ClusterFault> faults;
    for (int kind = 0; kind < kind_count(spec_); ++kind) add_faults_of_kind(faults, kind);
    std::erase_if(faults, [&](const ClusterFault& fault) { return is_of_unread_link(fault); });
    const bool knows_devices = std::ranges::all_of(known_, &KnownNode::devices);
    if (knows_fabric_ && knows_nodes_ && knows_devices && !is_site(spec_)) {
      for (ClusterFault& fault : check_network(spec_)) faults.push_back(std::move(fault));
    }
    report(faults);
  }

  /// Returns the faults of a site, in which each kind of node is a cluster of its own.
  std::vector<ClusterFault> faults_of_site() const {
    std::vector<ClusterFault> faults = check_kind_names(spec_);
    const std::vector<ClusterSpec> kinds = clusters_of_site(spec_);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      for (ClusterFault& fault : check(kinds[kind])) {
        fault.kind = static_cast<int>(kind);
        faults.push_back(std::move(fault));
      }
    }
    return faults;
  }

  /// Reports partitions with kinds that do not exist, and names of kinds with a slash: a part of a site is
  /// named "site/kind".
  void check_partitions(TableReader& document) {
    std::vector<std::string> names;
    for (int kind = 0; kind < kind_count(spec_); ++kind) names.push_back(name_of_kind(spec_, kind));
    for (const Partition& partition : spec_.site.partitions) {
      for (const std::string& kind : partition.kinds) {
        if (find_kind(spec_, kind)) continue;
        document.report(partition.span,
                        fmt::format("partition {} has nodes of kind \"{}\", and the file has none",
                                    partition.name, printable(shortened(kind, 60))),
                        did_you_mean(kind, names));
      }
    }
    if (!is_site(spec_)) return;
    for (int kind = 0; kind < kind_count(spec_); ++kind) {
      if (names[static_cast<std::size_t>(kind)].find('/') == std::string::npos) continue;
      const SourceSpan span = kind == 0 ? document.span_of("node_kind")
                                        : spec_.more_nodes[static_cast<std::size_t>(kind - 1)].span;
      document.report(span, "the name of a kind must not hold a slash", "as in \"a100\"");
    }
  }

  // A node is checked whole if it was read whole; otherwise only its links are, if their devices are known.
  void add_faults_of_kind(std::vector<ClusterFault>& faults, int kind) const {
    const KnownNode& known = known_[static_cast<std::size_t>(kind)];
    const NodeSpec& node = node_of_kind(spec_, kind);
    std::vector<ClusterFault> found;
    if (known.node)
      found = check_node(node);
    else if (known.devices)
      found = check_node_links(node);
    for (ClusterFault& fault : found) {
      fault.kind = kind;
      faults.push_back(std::move(fault));
    }
  }

  // A link that could not be read has no bandwidth.
  bool is_of_unread_link(const ClusterFault& fault) const {
    if (fault.link < 0) return false;
    const NodeSpec& node = node_of_kind(spec_, fault.kind);
    return node.links[static_cast<std::size_t>(fault.link)].type.bandwidth.per_second == 0;
  }

  // The fabric's own faults are needed to place them at [fabric].
  void report(const std::vector<ClusterFault>& faults) {
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
  // Known parts by kind of node.
  std::vector<KnownNode> known_ = std::vector<KnownNode>(1);
  // Numbers of nodes and the fabric were read without a mistake.
  bool knows_nodes_ = false, knows_fabric_ = false;
};

}  // namespace

/// The order is that of the page: the cluster, its nodes and fabric, then the files that it names.
std::vector<KeyTable> cluster_key_tables() {
  std::vector<KeyTable> tables{{"The file", "", described(ClusterReader::keys())}};
  const auto add = [&tables](std::vector<KeyTable> more) {
    for (KeyTable& table : more) tables.push_back(std::move(table));
  };
  add({{"`[[more_nodes]]`", "Nodes of another kind than `[node]`: another partition or generation.",
        described(ClusterReader::kind_keys())}});
  add(node_key_tables());
  add(fabric_key_tables());
  add({{"`[storage.page_cache]`, `[storage.nvme]`, `[storage.lustre]`, `[storage.nfs]`",
        "Where training data lie. What is not said has the usual figure of its kind (docs/models/host.md).",
        described(storage_keys())},
       {"`[site]`", "How a computing centre hands it out, for job scripts and costs.",
        described(site_keys())},
       {"`[[site.partitions]]`", "What one job may ask of a queue.", described(partition_keys())},
       {"`[site.billing]`", "What a job is charged.", described(billing_keys())},
       {"A GPU's file", "A GPU that is not in `list gpus` is a file, named by its path in `node.gpu`.",
        described(gpu_keys())},
       {"`[ports]` of a GPU's file", "How it is usually built in: only `foretrain topology new` reads it.",
        described(gpu_port_keys())},
       {"A link's file", "A link that is not in `list links` is a file, named by its path.",
        described(link_keys())}});
  return tables;
}

ClusterSpec read_cluster(const SourceText& source, Diagnostics& diagnostics) {
  ClusterSpec cluster = read_uncalibrated_cluster(source, diagnostics);
  Calibration own = std::move(cluster.calibration);
  return calibrated(std::move(cluster), std::move(own));
}

/// Serves callers that fit constants, or that put another calibration over the cluster.
ClusterSpec read_uncalibrated_cluster(const SourceText& source, Diagnostics& diagnostics) {
  return ClusterReader(source, diagnostics).read();
}

}  // namespace foretrain
