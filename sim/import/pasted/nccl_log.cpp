// Lines of NCCL's INFO and VERSION levels as its init.cc, net_ib.cc, net_socket.cc and transport/*.cc print
// them, 2.4 to 2.27. Ranks of a node: said by the communicator, else counted by their devices, else the
// period of the first ring, in which equal nodes follow each other alike.
#include "sim/import/pasted/nccl_log.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

constexpr int kMostNcclRanks = 1'000'000;
constexpr std::size_t kMostNcclAdapters = 64, kMostNcclHosts = 100'000, kLongestRing = 100'000;

constexpr std::string_view kInfo = " NCCL INFO ";

int bounded_count(std::optional<std::int64_t> value) {
  return static_cast<int>(std::clamp<std::int64_t>(value.value_or(0), 0, kMostNcclRanks));
}

/// "node0" of "node0:3021:3060 [0] NCCL INFO …".
std::string_view host_of_log_line(std::string_view line) {
  return line.substr(0, std::min(line.find(':'), line.size()));
}

class NcclLogReader {
 public:
  explicit NcclLogReader(const SourceText& source) : source_(source) { log_.place.file = source.name; }

  NcclLog read() {
    LogLines lines(source_.text);
    for (LogLine line; lines.next(line);) {
      const std::size_t at = line.text.find(kInfo);
      const bool is_version = trimmed(line.text).starts_with("NCCL version ");
      if (at == std::string::npos && !is_version) continue;
      if (log_.place.line == 0) log_.place.line = line.number;
      if (is_version || holds(line.text, "NCCL version "))
        take_version(text_behind(line.text, "NCCL version "));
      if (at != std::string::npos)
        take(host_of_log_line(line.text), std::string_view(line.text).substr(at + kInfo.size()), line.number);
    }
    settle_gpus();
    return std::move(log_);
  }

 private:
  void take_version(std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789.");
    if (log_.version.empty()) log_.version = std::string(text.substr(0, std::min<std::size_t>(end, 20)));
  }

  void take(std::string_view host, std::string_view text, int line) {
    take_communicator(host, text);
    take_network(text, line);
    if (text.starts_with("Channel ")) take_channel(text);
    if (holds(text, "via P2P")) log_.has_peer_access = true;
    if (holds(text, "via NET/")) has_network_ = true;
    const int channels = bounded_count(integer_behind(text, "coll channels"));
    if (const std::size_t at = text.find(" coll channels"); at != std::string_view::npos && channels == 0)
      log_.channels = std::max(log_.channels, bounded_count(integer_of(text.substr(0, at))));
  }

  /// "comm 0x… rank 3 nranks 16 cudaDev 3 busId 1c0 - Init COMPLETE", newer ones with "nNodes 2 localRanks
  /// 8".
  void take_communicator(std::string_view host, std::string_view text) {
    const int ranks = std::max(bounded_count(integer_behind(text, "nranks ")),
                               bounded_count(integer_behind(text, "nRanks ")));
    log_.ranks = std::max(log_.ranks, ranks);
    local_ranks_ = std::max(local_ranks_, bounded_count(integer_behind(text, "localRanks ")));
    const auto device = integer_behind(text, "cudaDev ");
    if (device && devices_.size() < kMostNcclHosts)
      devices_[std::string(host.substr(0, 200))].insert(bounded_count(device));
  }

  void take_network(std::string_view text, int line) {
    if (text.starts_with("Using network ")) {
      log_.network = std::string(trimmed(text.substr(14, 60)));
      log_.network_line = line;
    }
    if (text.starts_with("NET/IB") && holds(text, "No device found")) log_.has_no_infiniband = true;
    if (text.starts_with("NET/IB") && holds(text, "Using ") && log_.adapters.empty()) take_adapters(text);
    if (text.starts_with("NET/Socket") && holds(text, "Using ")) take_interface(text, line);
  }

  /// "Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"
  void take_adapters(std::string_view text) {
    const std::string_view list = text_behind(text, "Using ");
    for (const std::string_view word : words_of(list.substr(0, list.find(';')))) {
      const std::size_t close = word.find(']'), colon = word.find(':');
      if (!word.starts_with('[') || close == std::string_view::npos || colon == std::string_view::npos ||
          colon < close || log_.adapters.size() >= kMostNcclAdapters)
        continue;
      log_.adapters.push_back(
          {std::string(word.substr(close + 1, colon - close - 1).substr(0, 60)), holds(word, "RoCE")});
    }
  }

  /// "Using [0]ens5:10.0.0.1<0>": what sockets run on, where they are the network.
  void take_interface(std::string_view text, int line) {
    const std::string_view word = text_behind(text, "Using ");
    const std::size_t close = word.find(']'), colon = word.find(':');
    if (close == std::string_view::npos || colon == std::string_view::npos || colon < close) return;
    log_.interface = std::string(word.substr(close + 1, colon - close - 1).substr(0, 60));
    if (log_.network_line == 0) log_.network_line = line;
  }

  /// "Channel 00/02 :    0   3   2   1 …": how many there are, and the first one's ring.
  void take_channel(std::string_view text) {
    const std::size_t slash = text.find('/'), colon = text.find(" :");
    if (slash == std::string_view::npos || colon == std::string_view::npos || colon < slash) return;
    const auto channels = integer_of(trimmed(text.substr(slash + 1, colon - slash - 1)));
    if (!channels) return;
    log_.channels = std::max(log_.channels, bounded_count(channels));
    std::vector<int> ring;
    for (const std::string_view word : words_of(text.substr(colon + 2), kLongestRing)) {
      const auto rank = integer_of(word);
      if (!rank || *rank < 0 || *rank > kMostNcclRanks) return;
      ring.push_back(static_cast<int>(*rank));
    }
    if (ring.size() > ring_.size()) ring_ = std::move(ring);
    log_.ranks = std::max(log_.ranks, static_cast<int>(ring_.size()));
  }

  /// After how many ranks the ring goes on as it began, shifted by as many; 0: never. Ranks in order fit
  /// every number.
  int period_of_ring() const {
    const std::size_t ranks = has_network_ && !std::ranges::is_sorted(ring_) ? ring_.size() : 0;
    for (std::size_t period = 1; period < ranks; ++period) {
      if (ranks % period != 0) continue;
      const auto is_shifted = [&](std::size_t i) {
        return ring_[i + period] == ring_[i] + static_cast<int>(period);
      };
      std::size_t i = 0;
      while (i + period < ranks && is_shifted(i)) ++i;
      if (i + period == ranks && is_node(period)) return static_cast<int>(period);
    }
    return 0;
  }
  /// The first `period` ranks of the ring are 0 … period − 1.
  bool is_node(std::size_t period) const {
    const auto end = ring_.begin() + static_cast<std::ptrdiff_t>(period);
    return *std::max_element(ring_.begin(), end) == static_cast<int>(period) - 1;
  }

  void settle_gpus() {
    if (local_ranks_ > 0) {
      log_.gpus_per_node = local_ranks_;
      log_.gpus_because = "NCCL says localRanks";
      return;
    }
    std::size_t most = 0;
    for (const auto& [host, devices] : devices_) most = std::max(most, devices.size());
    // A log of rank 0 alone names one device.
    if (most > 1 || log_.ranks == 1) {
      log_.gpus_per_node = static_cast<int>(most);
      log_.gpus_because = "devices of a host are counted";
    } else if (const int period = period_of_ring(); period > 0) {
      log_.gpus_per_node = period;
      log_.gpus_because = "the ring goes on alike after as many ranks";
    }
  }

  const SourceText& source_;
  NcclLog log_;
  std::map<std::string, std::set<int>> devices_;
  std::vector<int> ring_;
  int local_ranks_ = 0;
  bool has_network_ = false;
};

std::string network_in_words(const NcclLog& log) {
  std::string out;
  if (log.has_no_infiniband) out += "no InfiniBand device, ";
  if (!log.adapters.empty()) out += counted(static_cast<std::int64_t>(log.adapters.size()), "adapter") + ", ";
  const bool is_socket = log.network == "Socket" || (log.network.empty() && !log.interface.empty());
  if (is_socket)
    out += fmt::format("sockets{}, ", log.interface.empty() ? "" : " on " + log.interface);
  else if (!log.network.empty())
    out += fmt::format("network {}, ", log.network);
  return out;
}

}  // namespace

NcclLog nccl_log_of(const SourceText& source) { return NcclLogReader(source).read(); }

std::string in_words(const NcclLog& log) {
  std::string out;
  if (!log.version.empty()) out += fmt::format("version {}, ", log.version);
  if (log.ranks > 0) out += counted(log.ranks, "rank") + ", ";
  if (log.gpus_per_node > 0)
    out += fmt::format("{} a node ({}), ", counted(log.gpus_per_node, "GPU"), log.gpus_because);
  if (log.channels > 0) out += counted(log.channels, "channel") + ", ";
  out += network_in_words(log);
  if (out.empty()) return "";
  return fmt::format("NCCL says ({}): {}", to_string(log.place), out.substr(0, out.size() - 2));
}

bool is_nccl_log(std::string_view text) { return holds(text, kInfo); }

Machine machine_of_nccl_log(const SourceText& source) {
  const NcclLog log = nccl_log_of(source);
  Machine machine;
  machine.place = log.place;
  machine.gpu_count = std::min(log.gpus_per_node, 1000);
  if (log.gpus_per_node > 0 && log.ranks % log.gpus_per_node == 0)
    machine.fabric.nodes = log.ranks / log.gpus_per_node;
  if (log.has_peer_access) machine.peer_access = true;
  const bool is_socket = log.network == "Socket" || (log.network.empty() && !log.interface.empty());
  if (is_socket) machine.sockets_on = log.interface.empty() ? "Ethernet" : log.interface;
  if (!is_socket && !log.adapters.empty()) {
    machine.parts.push_back({PartKind::socket, -1});
    for (const NcclAdapter& adapter : log.adapters) {
      MachinePart part{PartKind::adapter, 0, adapter.name};
      part.is_ethernet = adapter.is_ethernet;
      machine.parts.push_back(std::move(part));
    }
  }
  if (const std::string words = in_words(log); !words.empty()) machine.remarks.push_back(words);
  if (!log.version.empty())
    machine.remarks.push_back(
        fmt::format("Predictions with NCCL {}: --set nccl.version={}", log.version, log.version));
  return machine;
}

Machine read_nccl_log(const SourceText& source, Diagnostics& diagnostics) {
  Machine machine = machine_of_nccl_log(source);
  if (gpus_of(machine) == 0 && machine.parts.empty() && machine.sockets_on.empty())
    diagnostics.report(
        {std::max(machine.place.line, 1), 1, 1}, "NCCL's log tells neither GPUs of a node nor adapters",
        "paste its lines from the start, with NET/IB or NET/Socket and with nranks and cudaDev");
  return machine;
}

}  // namespace foretrain
