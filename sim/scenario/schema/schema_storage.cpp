// The tables [storage.KIND] of a cluster file: known values of its disks and file systems. They replace the
// usual values of that kind.
// [storage.lustre]
// job_bandwidth = "50 GBps"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"

namespace foretrain {

/// Values that are not stated are those of the kind.
const Keys<StorageSpec>& storage_keys() {
  static const Keys<StorageSpec> keys{{"job_bandwidth", takes::link_rate<&StorageSpec::job>(), "\"50 GBps\"",
                                       "of the kind", "what all nodes of a job share"},
                                      {"node_bandwidth", takes::link_rate<&StorageSpec::node>(), "\"5 GBps\"",
                                       "of the kind", "what all readers of a node share"},
                                      {"stream_bandwidth", takes::link_rate<&StorageSpec::stream>(),
                                       "\"1 GBps\"", "of the kind", "what one reader reaches"},
                                      {"latency", takes::latency<&StorageSpec::latency>(), "\"0.5 ms\"",
                                       "of the kind", "each read: open, seek, server"}};
  return keys;
}

/// Kinds are read in the order of their names, not in that of the file.
std::vector<StorageSpec> read_storage(TableReader& document) {
  std::vector<StorageSpec> out;
  const Table* tables = document.table("storage");
  if (tables == nullptr) return out;
  TableReader storage(*tables, "storage", document.diagnostics());
  // The first kind is `none`, which has no table.
  for (std::size_t i = 1; i < kStorageNames.size(); ++i) {
    const Table* table = storage.table(kStorageNames[i]);
    if (table == nullptr) continue;
    TableReader reader(*table, storage.full_name(kStorageNames[i]), document.diagnostics());
    StorageSpec spec = usual_storage(static_cast<StorageKind>(i));
    read_keys(reader, storage_keys(), spec);
    reader.finish();
    out.push_back(spec);
  }
  storage.finish();
  return out;
}

}  // namespace foretrain
