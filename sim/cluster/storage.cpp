// Figures of ordinary installations. A cluster's own figures are in the [storage] tables of its file.
#include "sim/cluster/storage.hpp"

namespace foretrain {

StorageSpec usual_storage(StorageKind kind) {
  switch (kind) {
    case StorageKind::page_cache:
      // The fields are: kind, rate of a job, rate of a node, rate of a reader, latency.
      return {kind, {}, {80e9}, {6e9}, microseconds(10)};
    case StorageKind::nvme:
      return {kind, {}, {3e9}, {1.5e9}, microseconds(100)};
    case StorageKind::lustre:
      return {kind, {20e9}, {5e9}, {1e9}, milliseconds(1)};
    case StorageKind::nfs:
      return {kind, {1e9}, {1e9}, {0.3e9}, milliseconds(1.5)};
    default:
      return {};
  }
}

}  // namespace foretrain
