// The cluster file: node, its links, fabric. Faults that check() finds are shown at the link or table they
// belong to.
#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

class ClusterReader {
 public:
  ClusterReader(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  /// As data sheets and others' measurements describe it; its own calibration lies beside.
  ClusterSpec read() {
    const Table table = parse_toml(source_, diagnostics_);
    TableReader document(table, "", diagnostics_);
    spec_.name = name_of_file(source_.name);
    spec_.description = document.string("description").value_or("");
    document.require("nodes", "24");
    document.require("node", "[node]");
    spec_.nodes = static_cast<int>(document.integer("nodes", 1, kMostNodes).value_or(1));
    read_node(document);
    node_span_ = document.span_of("node");
    nodes_span_ = document.span_of("nodes");
    spec_.fabric = read_fabric(document);
    spec_.storage = read_storage(document);
    spec_.site = read_site(document);
    if (document.has("calibration"))
      spec_.calibration =
          PartReader<Calibration>(CatalogKind::calibrations, read_calibration).read(document, "calibration");
    document.finish();
    if (diagnostics_.empty()) report_faults();
    return std::move(spec_);
  }

 private:
  /// node = "dgx-a100" is short for a table that names a template and changes nothing.
  void read_node(TableReader& document) {
    const Value* value = document.value("node");
    if (value != nullptr && std::holds_alternative<std::string>(value->data)) {
      spec_.node = PartReader<NodeSpec>(CatalogKind::nodes, read_node_template).read(document, "node");
      for (NodeLink& link : spec_.node.links) link.span = value->span;
    } else if (const Table* node = document.table("node")) {
      spec_.node = NodeReader(diagnostics_).read(*node, "node");
    }
  }

  bool is_of(const ClusterFault& fault, const std::vector<ClusterFault>& faults) const {
    return std::any_of(faults.begin(), faults.end(),
                       [&](const ClusterFault& other) { return other.message == fault.message; });
  }

  /// A link's own place; what the fabric finds belongs to [fabric], or to `nodes` where that table is
  /// missing; the rest to [node].
  SourceSpan span_of(const ClusterFault& fault, const std::vector<ClusterFault>& of_fabric) const {
    if (fault.link >= 0) return spec_.node.links[static_cast<std::size_t>(fault.link)].span;
    if (fault.fabric_link >= 0) return spec_.fabric.graph[static_cast<std::size_t>(fault.fabric_link)].span;
    if (!is_of(fault, of_fabric)) return node_span_;
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
};

}  // namespace

ClusterSpec read_cluster(const SourceText& source, Diagnostics& diagnostics) {
  ClusterSpec cluster = read_uncalibrated_cluster(source, diagnostics);
  Calibration own = std::move(cluster.calibration);
  return calibrated(std::move(cluster), std::move(own));
}

ClusterSpec read_uncalibrated_cluster(const SourceText& source, Diagnostics& diagnostics) {
  return ClusterReader(source, diagnostics).read();
}

}  // namespace foretrain
