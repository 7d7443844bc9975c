// Storage of training data: kinds of storage with their bandwidth and latency as a job sees them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"

namespace foretrain {

/// Kinds of storage.
/// none: samples are in the process's memory or generated. page_cache: files that the node's memory holds.
/// nvme: a disk of the node. lustre: a parallel file system of the machine. nfs: one file server.
enum class StorageKind : std::uint8_t { none, page_cache, nvme, lustre, nfs };
inline constexpr std::array<std::string_view, 5> kStorageNames{"none", "page_cache", "nvme", "lustre", "nfs"};
inline std::string_view name_of(StorageKind kind) { return kStorageNames[static_cast<std::size_t>(kind)]; }

/// The rates that readers share, and the latency of each read. A rate of 0 is no limit.
struct StorageSpec {
  StorageKind kind = StorageKind::none;
  /// Rate of all nodes of a job together.
  ByteRate job{};
  /// Rate of all readers of one node together.
  ByteRate node{};
  /// Rate of a single reader.
  ByteRate stream{};
  /// Time of each read besides its bytes: open, seek, server.
  Time latency{};
};

/// Returns typical figures for a kind, all assumed: docs/models/host.md.
StorageSpec usual_storage(StorageKind kind);

}  // namespace foretrain
