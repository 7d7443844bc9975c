// Readers of files, one per noun: GPU, link, transport, data set, calibration, node, cluster, model. Each
// turns a text into a plain value and reports every mistake.
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

/// Each reader takes the text of one file, reports into `diagnostics` (bound to that text) and returns the
/// values that could be read. A result is valid only if nothing was reported. No reader throws for mistakes
/// in the text.
Gpu read_gpu(const SourceText& source, Diagnostics& diagnostics);              // schema_gpu.cpp
LinkType read_link_type(const SourceText& source, Diagnostics& diagnostics);   // schema_link.cpp
Transport read_transport(const SourceText& source, Diagnostics& diagnostics);  // schema_transport.cpp
DataSet read_data_set(const SourceText& source, Diagnostics& diagnostics);     // schema_data_set.cpp
/// Reads a file of `foretrain calibrate fit`. Constants that are not among `known`, and values outside of
/// physical limits, are reported.
Calibration read_calibration(const SourceText& source, Diagnostics& diagnostics,
                             const std::vector<ConstantRange>& known);
Calibration read_calibration(
    const SourceText& source,
    Diagnostics& diagnostics);  // schema_calibration.cpp, of calibratable_constants()
/// Reads a node that clusters share (topologies/nodes): the keys of [node] as a document. Faults inside the
/// node are reported here.
NodeSpec read_node_template(const SourceText& source, Diagnostics& diagnostics);  // schema_node.cpp
/// Reads a cluster. Resolves GPU, link and node names in the catalogs, then runs check(); faults are reported
/// at the link or table that they belong to.
ClusterSpec read_cluster(const SourceText& source, Diagnostics& diagnostics);  // schema_cluster.cpp
/// As above, without applying the constants of its calibration; ClusterSpec::calibration has them.
ClusterSpec read_uncalibrated_cluster(const SourceText& source,
                                      Diagnostics& diagnostics);  // schema_cluster.cpp
/// Reads a model and resolves its blocks. Cyclic, unknown and too deeply nested blocks, and layers that do
/// not fit their input, are reported.
Model read_model(const SourceText& source, Diagnostics& diagnostics);  // schema_model.cpp
/// A model with its operators, which checking the shapes produces anyway. `expanded` is empty when there were
/// mistakes.
struct ModelFile {
  Model model;
  ExpandedModel expanded;
};
ModelFile read_model_file(const SourceText& source, Diagnostics& diagnostics);
/// Returns the keys of a model file for the reference page.
std::vector<KeyTable> model_key_tables();  // schema_model.cpp

}  // namespace foretrain
