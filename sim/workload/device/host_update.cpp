// A roofline of the host. The time is the longest of three: all bytes over the memory's rate, all bytes over
// the rate that a rank's threads can request, and square roots and divisions over the vectors of its cores.
#include "sim/workload/device/host_update.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/cluster/cpu_models.hpp"

namespace foretrain {

namespace {

// Shares of the data sheet's memory bandwidth that updates reach, by the place of their pages and threads.
/// One socket: 0.45 to 0.5 of the Ryzen 5600 of torchao's README (5.9e8 parameters a second).
constexpr double kOneSocket = 0.45;
/// Several sockets, each rank with cores of its own: DeepSpeed's pull request 7474 with --bind_cores_to_rank,
/// 83 of 410 GB/s.
constexpr double kOwnCores = 0.20;
/// Several sockets, every rank on all cores: 0.19, 0.14, 0.15 and 0.09 of 410 GB/s in DeepSpeed's 6834, 7474,
/// 6695 and 3901, whose machines are known in part; their geometric mean.
constexpr double kAllCores = 0.137;

// Cycles of a core for one vector of Adam: a square root, a division, loads, stores and products of fp32.
//
// Unverified throughputs of Skylake to Zen 4 (uops.info): 512 bits 18 + 10 + about 20, 256 bits 6 + 5 + 20.
constexpr double kWideVector = 48, kVector = 31, kNarrowVector = 25;
constexpr double kFloatBits = 32, kWideBits = 512, kVectorBits = 256;
/// Share of Adam's cycles that another operator of PyTorch takes: a product, a sum or a root.
constexpr double kOperatorShare = 0.35;

/// Returns the cycles of one element: those of a vector over its number of fp32 elements.
double cycles_per_element(int vector_bits) {
  const double cycles = vector_bits >= kWideBits     ? kWideVector
                        : vector_bits >= kVectorBits ? kVector
                                                     : kNarrowVector;
  return cycles * kFloatBits / std::max(kFloatBits, static_cast<double>(vector_bits));
}

/// Returns the bytes a second of one rank while all ranks of the node work.
double memory_rate(const HostUpdate& update, const HostProcessors& cpus, bool own_cores) {
  const double all = cpus.memory_bandwidth.per_second;
  if (cpus.sockets == 1) return kOneSocket * all / update.ranks;
  const double share = own_cores ? kOwnCores : kAllCores;
  return share * all / std::max(update.ranks, cpus.sockets);
}

}  // namespace

const char* words_of(HostBound bound) {
  static constexpr std::array<const char*, 3> kWords{"the memory of the host", "the threads of a rank",
                                                     "the arithmetic of the host's cores"};
  return kWords[static_cast<std::size_t>(bound)];
}

HostUpdateTime host_update_time(const HostUpdate& update, const Host& host) {
  const HostProcessors cpus = processors_of(host);
  HostUpdate of = update;
  of.ranks = std::max(1, update.ranks);
  const double cores = static_cast<double>(cpus.cores) / of.ranks;
  // Threads that fit into a rank's part of the cores are taken to be bound to it.
  const bool own_cores = update.threads > 0 && update.threads <= std::max(1.0, cores);
  const double threads = own_cores ? update.threads : std::max(1.0, cores);
  const double bytes = of.elements * of.bytes_per_element;
  // The memcpy of one core reads and writes each byte.
  const double thread_rate = 2 * threads * std::max(1.0, host.memory_bandwidth.per_second);
  const double share = of.passes == 1 ? 1 : kOperatorShare;
  const double arithmetic =
      of.elements * of.passes * share * cycles_per_element(cpus.vector_bits) / (threads * cpus.all_ghz * 1e9);
  HostUpdateTime time{bytes / memory_rate(of, cpus, own_cores), HostBound::memory};
  if (bytes / thread_rate > time.seconds) time = {bytes / thread_rate, HostBound::threads};
  if (arithmetic > time.seconds) time = {arithmetic, HostBound::arithmetic};
  return time;
}

std::string basis_of_host(const Host& host) {
  const HostProcessors cpus = processors_of(host);
  const double gbps = cpus.memory_bandwidth.per_second / 1e9;
  if (cpus.model != nullptr)
    return fmt::format("{} x {} of the catalog, {:.0f} GB/s", cpus.sockets, cpus.model->name, gbps);
  return fmt::format("{} is not in the catalog of CPUs: {:.0f} GB/s for {} cores is assumed (host.cpu)",
                     host.cpu.empty() ? "the CPU" : host.cpu, gbps, cpus.cores);
}

double fused_host_bytes(const Optimizer& optimizer, double width) {
  constexpr double kFloat = 4;
  const double states = static_cast<double>(state_bytes_per_element(optimizer)) / kFloat;
  return width * (3 + 2 * states);
}

/// The passes of torch.optim.adamw are weight decay, two moments, root, quotient, sum and step. They read or
/// write 20 tensors for Adam's two states: 5 without states and 7.5 for each.
double unfused_host_bytes(const Optimizer& optimizer, double width) {
  constexpr double kFloat = 4, kNoState = 5, kOfState = 7.5;
  const double states = static_cast<double>(state_bytes_per_element(optimizer)) / kFloat;
  return width * (kNoState + kOfState * states);
}

int unfused_host_passes(const Optimizer& optimizer) {
  constexpr int kNoState = 2, kOfState = 3;
  return kNoState + kOfState * static_cast<int>(state_bytes_per_element(optimizer) / 4);
}

}  // namespace foretrain
