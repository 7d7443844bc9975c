// Where training data lie: kinds of storage with their bandwidth and latency as a job sees them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"

namespace foretrain {

/// none: samples are in the process's memory or made on the spot. page_cache: files the node's memory holds.
/// nvme: a disk of the node. lustre: a parallel file system of the machine. nfs: one file server.
enum class StorageKind : std::uint8_t { none, page_cache, nvme, lustre, nfs };
inline constexpr std::array<std::string_view, 5> kStorageNames{"none", "page_cache", "nvme", "lustre", "nfs"};
inline std::string_view name_of(StorageKind kind) { return kStorageNames[static_cast<std::size_t>(kind)]; }

/// What readers share and what each waits for. A rate of 0 is no limit.
struct StorageSpec {
  StorageKind kind = StorageKind::none;
  ByteRate job{};     ///< all nodes of a job together
  ByteRate node{};    ///< all readers of one node together
  ByteRate stream{};  ///< one reader
  Time latency{};     ///< each read: open, seek, server
};

/// Generic figures for a kind, all assumed: docs/models/input.md.
StorageSpec usual_storage(StorageKind kind);

}  // namespace foretrain
