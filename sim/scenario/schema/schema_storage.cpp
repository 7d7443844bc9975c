// The tables [storage.KIND] of a cluster file: what is known of its disks and file systems, over the usual
// figures of that kind.
#include <array>

#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

struct StorageRateKey {
  std::string_view name;
  ByteRate StorageSpec::*member;
};

constexpr std::array<StorageRateKey, 3> kStorageRates{{{"job_bandwidth", &StorageSpec::job},  //
                                                       {"node_bandwidth", &StorageSpec::node},
                                                       {"stream_bandwidth", &StorageSpec::stream}}};

StorageSpec read_kind(TableReader& reader, StorageKind kind) {
  StorageSpec spec = usual_storage(kind);
  for (const StorageRateKey& key : kStorageRates) {
    const auto rate = reader.byte_rate(key.name);
    if (rate && rate->per_second < 1)
      reader.report(reader.span_of(key.name),
                    reader.full_name(key.name) + " must be at least one byte per second");
    keep(rate, spec.*key.member);
  }
  keep(reader.time("latency", kLatencyRange), spec.latency);
  reader.finish();
  return spec;
}

}  // namespace

std::vector<StorageSpec> read_storage(TableReader& document) {
  std::vector<StorageSpec> out;
  const Table* tables = document.table("storage");
  if (tables == nullptr) return out;
  TableReader storage(*tables, "storage", document.diagnostics());
  for (std::size_t i = 1; i < kStorageNames.size(); ++i) {
    const Table* table = storage.table(kStorageNames[i]);
    if (table == nullptr) continue;
    TableReader reader(*table, storage.full_name(kStorageNames[i]), document.diagnostics());
    out.push_back(read_kind(reader, static_cast<StorageKind>(i)));
  }
  storage.finish();
  return out;
}

}  // namespace foretrain
