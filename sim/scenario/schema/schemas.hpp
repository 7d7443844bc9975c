// One reader per noun: GPU, link, cluster, model; from text to the plain value, with every mistake reported.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/collective/transports/transport.hpp"
#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/scenario/toml/table_reader.hpp"
#include "sim/scenario/toml/value.hpp"
#include "sim/workload/data_set.hpp"
#include "sim/workload/layers/layer.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Each takes the text of one file, reports into `diagnostics` (bound to that text) and returns what could be
/// read.
Gpu read_gpu(const SourceText& source, Diagnostics& diagnostics);              // schema_gpu.cpp
LinkType read_link_type(const SourceText& source, Diagnostics& diagnostics);   // schema_link.cpp
Transport read_transport(const SourceText& source, Diagnostics& diagnostics);  // schema_transport.cpp
DataSet read_data_set(const SourceText& source, Diagnostics& diagnostics);     // schema_data_set.cpp
/// What `foretrain calibrate fit` writes. Constants that are not among `known`, and values that physics does
/// not allow, are reported.
Calibration read_calibration(const SourceText& source, Diagnostics& diagnostics,
                             const std::vector<ConstantRange>& known);
Calibration read_calibration(
    const SourceText& source,
    Diagnostics& diagnostics);  // schema_calibration.cpp, of calibratable_constants()
/// A node that clusters share (topologies/nodes): the keys of [node] as a document. Faults inside the node
/// are reported here.
NodeSpec read_node_template(const SourceText& source, Diagnostics& diagnostics);  // schema_node.cpp
/// Resolves GPU, link and node names in the catalogs, then runs check(): faults are reported at the link or
/// table they belong to.
ClusterSpec read_cluster(const SourceText& source, Diagnostics& diagnostics);  // schema_cluster.cpp
/// The same without the constants of its calibration in place; ClusterSpec::calibration has them.
ClusterSpec read_uncalibrated_cluster(const SourceText& source,
                                      Diagnostics& diagnostics);  // schema_cluster.cpp
/// Resolves blocks; cyclic, unknown and too deeply nested blocks, and layers that do not fit their input, are
/// reported.
Model read_model(const SourceText& source, Diagnostics& diagnostics);  // schema_model.cpp
/// The same with its operators, which checking the shapes made anyway; `expanded` is empty when there were
/// mistakes.
struct ModelFile {
  Model model;
  ExpandedModel expanded;
};
ModelFile read_model_file(const SourceText& source, Diagnostics& diagnostics);
/// The keys of a model file on the reference page.
std::vector<KeyTable> model_key_tables();  // schema_model.cpp

}  // namespace foretrain
