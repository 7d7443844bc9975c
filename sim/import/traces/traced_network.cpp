// stub
#include "sim/import/traces/traced_network.hpp"
namespace foretrain {
ImportedModel traced_network(const Trace&, const ModelImportOptions&) { return {}; }
ImportedModel traced_network(const ExecutionTrace&, const ModelImportOptions&) { return {}; }
ImportedModel traced_network(const TraceFile&, const ModelImportOptions&) { return {}; }
}  // namespace foretrain
