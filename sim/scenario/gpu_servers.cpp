// Servers of one kind of GPU. The text is that of `foretrain topology new`, so that people can write the same
// file and correct it.
#include "sim/scenario/gpu_servers.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/gpu_names.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/new_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Number of GPUs of a server. Baseboards with NVLink between all GPUs have eight; other servers and
/// workstations four.
constexpr int kGpusOfBoard = 8, kGpusOfServer = 4;
/// Readings that a message lists.
constexpr std::size_t kMostReadings = 12;

NewCluster server_of(const std::string& gpu) {
  const Gpu described = open_value(CatalogKind::gpus, gpu, read_gpu);
  const bool is_board = described.ports.nvlinks > 0 && !described.ports.bridged;
  return {.gpu = gpu, .gpus_per_node = is_board ? kGpusOfBoard : kGpusOfServer, .network = {}};
}

}  // namespace

std::string gpu_named(const std::string& name) {
  const std::vector<std::string> readings = gpus_named(name, names_in(CatalogKind::gpus));
  const std::string shown = shortened(printable(name), 40);
  if (readings.size() == 1) return readings.front();
  if (readings.empty())
    throw InputError(fmt::format("unknown GPU \"{}\"", shown), unknown_name_hint(CatalogKind::gpus, name));
  const std::vector<std::string> some(
      readings.begin(),
      readings.begin() + static_cast<std::ptrdiff_t>(std::min(readings.size(), kMostReadings)));
  throw InputError(
      fmt::format("\"{}\" may be one of {} GPUs: {}", shown, readings.size(), fmt::join(some, ", ")),
      fmt::format("which of them is it, as in {}?", readings.back()));
}

std::optional<SourceText> gpu_server_text(const std::string& cluster) {
  if (!cluster.starts_with(kGpuServer)) return std::nullopt;
  const std::string gpu = gpu_named(cluster.substr(kGpuServer.size()));
  return SourceText{std::string(kGpuServer) + gpu, new_cluster_text(server_of(gpu))};
}

std::string gpu_server_words(const std::string& cluster) {
  const NewCluster server = server_of(gpu_named(cluster.substr(kGpuServer.size())));
  return fmt::format("{}{} is one node with {} of these GPUs and the links that such nodes usually have",
                     kGpuServer, server.gpu, server.gpus_per_node);
}

}  // namespace foretrain
