// Reads what NCCL prints with NCCL_DEBUG=INFO or VERSION, by the formats of its init.cc, net_ib.cc,
// net_socket.cc and transport/*.cc, versions 2.4 to 2.27:
//
//   node0:3021:3060 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:10.0.0.1<0>
//   node0:3021:3060 [0] NCCL INFO Channel 00/02 :    0   3   2   1
//
// Taken are version, ranks, GPUs of a node, adapters, the kind of network and the number of channels. The
// ranks of a node are those that the communicator gives; otherwise the devices of a host; otherwise the
// period of the first ring, because equal nodes follow each other in it. Trees, buffers and tuning are
// skipped. A log without GPUs of a node and without adapters is reported.
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

/// Limits on what one log may make the program hold; larger numbers are clamped.
constexpr int kMostNcclRanks = 1'000'000;
constexpr std::size_t kMostNcclAdapters = 64, kMostNcclHosts = 100'000, kLongestRing = 100'000;

/// Mark of NCCL's lines, between the place and the text.
constexpr std::string_view kInfo = " NCCL INFO ";

/// Returns a number between 0 and kMostNcclRanks; 0 where there is none.
int bounded_count(std::optional<std::int64_t> value) {
  return static_cast<int>(std::clamp<std::int64_t>(value.value_or(0), 0, kMostNcclRanks));
}

/// Returns the host of a line: "node0" for "node0:3021:3060 [0] NCCL INFO …".
std::string_view host_of_log_line(std::string_view line) {
  return line.substr(0, std::min(line.find(':'), line.size()));
}

/// Reads one log. Values of several communicators are combined: the largest one counts.
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
  /// Keeps the first version; later lines repeat it.
  void take_version(std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789.");
    if (log_.version.empty()) log_.version = std::string(text.substr(0, std::min<std::size_t>(end, 20)));
  }

  /// Takes the text of one line behind the mark.
  void take(std::string_view host, std::string_view text, int line) {
    take_communicator(host, text);
    take_network(text, line);
    if (text.starts_with("Channel ")) take_channel(text);
    if (holds(text, "via P2P")) log_.has_peer_access = true;
    if (holds(text, "via NET/")) has_network_ = true;
    // Newer versions print "16 coll channels", with the number in front.
    const int channels = bounded_count(integer_behind(text, "coll channels"));
    if (const std::size_t at = text.find(" coll channels"); at != std::string_view::npos && channels == 0)
      log_.channels = std::max(log_.channels, bounded_count(integer_of(text.substr(0, at))));
  }

  /// Takes a communicator: "comm 0x… rank 3 nranks 16 cudaDev 3 busId 1c0 - Init COMPLETE"; newer versions
  /// add "nNodes 2 localRanks 8".
  void take_communicator(std::string_view host, std::string_view text) {
    const int ranks = std::max(bounded_count(integer_behind(text, "nranks ")),
                               bounded_count(integer_behind(text, "nRanks ")));
    log_.ranks = std::max(log_.ranks, ranks);
    local_ranks_ = std::max(local_ranks_, bounded_count(integer_behind(text, "localRanks ")));
    const auto device = integer_behind(text, "cudaDev ");
    if (device && devices_.size() < kMostNcclHosts)
      devices_[std::string(host.substr(0, 200))].insert(bounded_count(device));
  }

  /// Takes what NCCL reports about the network when it starts.
  void take_network(std::string_view text, int line) {
    if (text.starts_with("Using network ")) {
      log_.network = std::string(trimmed(text.substr(14, 60)));
      log_.network_line = line;
    }
    if (text.starts_with("NET/IB") && holds(text, "No device found")) log_.has_no_infiniband = true;
    if (text.starts_with("NET/IB") && holds(text, "Using ") && log_.adapters.empty()) take_adapters(text);
    if (text.starts_with("NET/Socket") && holds(text, "Using ")) take_interface(text, line);
  }

  /// Takes the adapters in "Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>".
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

  /// Takes the interface of sockets, "Using [0]ens5:10.0.0.1<0>". It matters only where sockets are the
  /// network.
  void take_interface(std::string_view text, int line) {
    const std::string_view word = text_behind(text, "Using ");
    const std::size_t close = word.find(']'), colon = word.find(':');
    if (close == std::string_view::npos || colon == std::string_view::npos || colon < close) return;
    log_.interface = std::string(word.substr(close + 1, colon - close - 1).substr(0, 60));
    if (log_.network_line == 0) log_.network_line = line;
  }

  /// Takes the number of channels and the longest ring from "Channel 00/02 :    0   3   2   1 …".
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

  /// Returns after how many ranks the ring continues as it began, with all ranks shifted by that number; 0:
  /// never. A ring in plain order fits every number, so it gives no period.
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
  /// Returns whether the first `period` ranks of the ring are 0 … period - 1, as those of one node.
  bool is_node(std::size_t period) const {
    const auto end = ring_.begin() + static_cast<std::ptrdiff_t>(period);
    return *std::max_element(ring_.begin(), end) == static_cast<int>(period) - 1;
  }

  /// Decides how many GPUs a node has, by the surest source that the log offers.
  void settle_gpus() {
    if (local_ranks_ > 0) {
      log_.gpus_per_node = local_ranks_;
      log_.gpus_because = "NCCL says localRanks";
      return;
    }
    std::size_t most = 0;
    for (const auto& [host, devices] : devices_) most = std::max(most, devices.size());
    // One device may mean a log of rank 0 alone, unless there is one rank only.
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

/// Returns the network in words, each part followed by a comma.
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

/// The number of nodes follows where GPUs of a node divide the ranks.
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
