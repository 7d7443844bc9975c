// The text is that of `foretrain topology new`, so that people can write the same file and correct it.
#include "sim/scenario/gpu_servers.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/new_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Baseboards with NVLink between all GPUs have eight; other servers and workstations four.
constexpr int kGpusOfBoard = 8, kGpusOfServer = 4;
constexpr std::size_t kMostReadings = 12;

/// Small letters and digits alone.
std::string bare(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Whether the parts of a catalog's name begin with this one: v100 and v100-sxm2 of v100-sxm2-16gb.
bool begins_parts(std::string_view entry, std::string_view wanted) {
  for (std::size_t end = entry.find('-'); end != std::string_view::npos; end = entry.find('-', end + 1))
    if (bare(entry.substr(0, end)) == wanted) return true;
  return false;
}

std::vector<std::string> gpu_readings(const std::string& name) {
  const std::string wanted = bare(name);
  const std::vector<std::string> all = names_in(CatalogKind::gpus);
  std::vector<std::string> out;
  std::ranges::copy_if(all, std::back_inserter(out),
                       [&](const std::string& entry) { return bare(entry) == wanted; });
  if (!out.empty()) return out;
  std::ranges::copy_if(all, std::back_inserter(out),
                       [&](const std::string& entry) { return begins_parts(entry, wanted); });
  return out;
}

NewCluster server_of(const std::string& gpu) {
  const Gpu described = open_value(CatalogKind::gpus, gpu, read_gpu);
  const bool is_board = described.ports.nvlinks > 0 && !described.ports.bridged;
  return {.gpu = gpu, .gpus_per_node = is_board ? kGpusOfBoard : kGpusOfServer, .network = {}};
}

}  // namespace

std::string gpu_named(const std::string& name) {
  const std::vector<std::string> readings = gpu_readings(name);
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
