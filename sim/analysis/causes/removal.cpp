// A cause is removed by setting its times to zero in the device model. Nothing else about the step changes,
// neither its messages nor NCCL's choices, so the difference is the cost of that cause alone.
#include "sim/analysis/causes/removal.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// A cause: its key, its words, and the change of the device model that removes it.
struct RemovalRow {
  std::string_view key;
  /// Noun; empty for links and other, whose names depend on the step.
  std::string_view noun;
  /// Clause of its absence; empty for the same causes.
  std::string_view without;
  void (*apply)(DeviceModel& device);
};

/// Sets the time of all tasks of an account to zero.
template <Account account>
void remove_account(DeviceModel& device) {
  device.account_time_scale[static_cast<std::size_t>(account)] = 0;
}

/// Host calls, launch latency and wake-ups all take no time.
void remove_host(DeviceModel& device) {
  device.host.time_scale = 0;
  device.host.launch_latency = device.host.sync_wake = Time::zero();
}

constexpr std::array<RemovalRow, kRemovableCount> kRows{{
    {"links", "", "", [](DeviceModel& d) { d.communication_time_scale = 0; }},
    {"host", "Python and kernel launches", "without Python and kernel launches", remove_host},
    {"input", "waiting for input batches", "with batches that are always ready",
     remove_account<Account::input_stall>},
    {"stragglers", "the slowest GPU, which sets the pace", "with GPUs that are all equally fast",
     [](DeviceModel& d) { d.rank_spread = 0; }},
    {"busy_node", "GPUs of a full node, which slow each other down", "with every GPU as fast as alone",
     [](DeviceModel& d) { d.busy_node = d.busy_host = 0; }},
    {"sharing", "kernels that share the GPU with collectives",
     "with collectives that take nothing of the GPU", [](DeviceModel& d) { d.collective_share = 0; }},
    {"optimizer", "the optimizer's kernels", "without the optimizer's kernels",
     remove_account<Account::optimizer>},
    {"other", "", "", remove_account<Account::other>},
}};

const RemovalRow& row_of(Removable what) { return kRows[static_cast<std::size_t>(what)]; }

/// Returns the link that the step waits for most, "the network (ib_hdr100)"; empty when it waits for none.
std::string slowest_link(const StepSimulator& simulator, const SimulatedStep& step) {
  const auto most = std::max_element(step.waits.begin(), step.waits.begin() + kBackgroundWait);
  if (*most <= 0) return {};
  return name_of_link(static_cast<std::size_t>(most - step.waits.begin()), simulator.scenario().cluster);
}

}  // namespace

std::string_view key_of(Removable what) { return row_of(what).key; }

std::string_view noun_of(Removable what) {
  return row_of(what).noun.empty() ? row_of(what).key : row_of(what).noun;
}

DeviceModel without(DeviceModel device, Removable what) {
  row_of(what).apply(device);
  return device;
}

/// An offloaded optimizer runs on the host, so it has other words.
std::string words_for(Removable what, const StepSimulator& simulator, const SimulatedStep& step) {
  if (what == Removable::optimizer && step.memory.host.is_used())
    return "the optimizer's update on the host and its copies";
  if (what == Removable::other) return std::string(simulator.other_account());
  if (what != Removable::links) return std::string(row_of(what).noun);
  const std::string link = slowest_link(simulator, step);
  return link.empty() ? "messages between GPUs" : "communication over " + link;
}

std::string words_without(Removable what, const StepSimulator& simulator, const SimulatedStep& step) {
  if (what == Removable::optimizer && step.memory.host.is_used())
    return "without the optimizer's update on the host";
  if (what == Removable::other) return fmt::format("without {}", simulator.other_account());
  if (what != Removable::links) return std::string(row_of(what).without);
  const std::string link = slowest_link(simulator, step);
  return link.empty() ? "with messages that take no time" : fmt::format("if {} took no time", link);
}

}  // namespace foretrain
