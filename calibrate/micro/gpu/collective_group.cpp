// One process with several GPUs launches within a group; a tiny all-reduce before the first event makes all
// GPUs start together.
#include "calibrate/micro/gpu/collective_group.hpp"

#ifdef FORETRAIN_HAS_NCCL_HEADER

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "calibrate/micro/gpu/kernels.hpp"
#include "calibrate/micro/gpu/read_back.hpp"
#include "calibrate/micro/plan/outcome.hpp"
#include "calibrate/micro/plan/verify.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain::micro {

namespace {

constexpr std::chrono::seconds kPatience{120};
constexpr auto kInProgress = static_cast<ncclResult_t>(7);  ///< ncclInProgress, which NCCL has since 2.14
constexpr double kSecondsOfCall = 15e-6;                    ///< host time of one launch on one GPU

std::shared_ptr<ncclComm> owned(const std::shared_ptr<const Nccl>& api, ncclComm_t communicator) {
  return {communicator, [api](ncclComm_t c) { (void)api->destroy(c); }};
}

/// NCCL's id from rank 0, as hexadecimal text on its way.
ncclUniqueId shared_id(const Session& session, const Nccl& api) {
  ncclUniqueId id;
  std::memset(&id, 0, sizeof id);
  if (session.job.rank == 0) FORETRAIN_NCCL(api, unique_id(&id));
  const std::string text = session.gather(std::string(id.internal, sizeof id.internal)).front();
  std::memcpy(id.internal, text.data(), std::min(text.size(), sizeof id.internal));
  return id;
}

std::size_t part_bytes(const CollectiveCall& call, int ranks) {
  return static_cast<std::size_t>(call.bytes / ranks);
}

/// How many floats a rank has after it, and before it.
std::int64_t result_elements(const CollectiveCall& call, int ranks) {
  return call.op == "reduce_scatter" ? call.elements() / ranks : call.elements();
}
std::int64_t input_elements(const CollectiveCall& call, int ranks) {
  return call.op == "all_gather" ? call.elements() / ranks : call.elements();
}

}  // namespace

CollectiveGroup::CollectiveGroup(const Session& session, const std::vector<int>& devices)
    : session_(session), api_(session.nccl) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const OnDevice current(devices[i]);
    Member member;
    member.device = devices[i];
    member.rank = session.machine.ranks > 1 ? session.job.rank : static_cast<int>(i);
    member.word = DeviceBuffer(sizeof(float));
    FORETRAIN_CUDA(cudaMemset(member.word.data(), 0, sizeof(float)));
    members_.push_back(std::move(member));
  }
  ranks_ = session.machine.ranks > 1 ? session.machine.ranks : static_cast<int>(devices.size());
  connect(devices);
}

void CollectiveGroup::connect(const std::vector<int>& devices) {
  if (session_.machine.ranks > 1) {
    const OnDevice current(devices.front());
    ncclComm_t communicator = nullptr;
    const ncclUniqueId id = shared_id(session_, *api_);
    FORETRAIN_NCCL(*api_, init_rank(&communicator, ranks_, id, session_.job.rank));
    members_.front().communicator = owned(api_, communicator);
    return;
  }
  std::vector<ncclComm_t> communicators(devices.size());
  FORETRAIN_NCCL(*api_, init_all(communicators.data(), ranks_, devices.data()));
  for (std::size_t i = 0; i < devices.size(); ++i) members_[i].communicator = owned(api_, communicators[i]);
}

void CollectiveGroup::allocate(const CollectiveCall& call) {
  const auto bytes = static_cast<std::size_t>(call.bytes);
  for (Member& member : members_) {
    const OnDevice current(member.device);
    for (DeviceBuffer* buffer : {&member.send, &member.receive}) {
      if (buffer->bytes() < bytes) *buffer = DeviceBuffer(bytes);
      FORETRAIN_CUDA(cudaMemsetAsync(buffer->data(), 0, bytes, member.stream.get()));
    }
  }
  wait();
}

void CollectiveGroup::each_in_group(const std::function<void(Member&)>& call) {
  FORETRAIN_NCCL(*api_, group_start());
  for (Member& member : members_) {
    const OnDevice current(member.device);
    call(member);
  }
  FORETRAIN_NCCL(*api_, group_end());
}

void CollectiveGroup::launch(const CollectiveCall& call) {
  each_in_group([&](Member& member) { launch_on(member, call); });
}

void CollectiveGroup::launch_on(Member& member, const CollectiveCall& call) {
  const auto all = static_cast<std::size_t>(call.elements()), part = all / static_cast<std::size_t>(ranks_);
  void *to = member.receive.data(), *from = call.in_place ? to : member.send.data();
  ncclComm_t communicator = member.communicator.get();
  cudaStream_t stream = member.stream.get();
  if (call.op == "all_reduce")
    FORETRAIN_NCCL(*api_, all_reduce(from, to, all, ncclFloat, ncclSum, communicator, stream));
  if (call.op == "all_gather")
    FORETRAIN_NCCL(*api_, all_gather(from, to, part, ncclFloat, communicator, stream));
  if (call.op == "reduce_scatter")
    FORETRAIN_NCCL(*api_, reduce_scatter(from, to, part, ncclFloat, ncclSum, communicator, stream));
  if (call.op == "broadcast")
    FORETRAIN_NCCL(*api_, broadcast(from, to, all, ncclFloat, 0, communicator, stream));
  if (call.op == "reduce")
    FORETRAIN_NCCL(*api_, reduce(from, to, all, ncclFloat, ncclSum, 0, communicator, stream));
  if (call.op == "alltoall") launch_chunks(member, call);
  if (call.op == "sendrecv") {
    FORETRAIN_NCCL(*api_, send(from, all, ncclFloat, (member.rank + 1) % ranks_, communicator, stream));
    FORETRAIN_NCCL(*api_,
                   receive(to, all, ncclFloat, (member.rank + ranks_ - 1) % ranks_, communicator, stream));
  }
}

void CollectiveGroup::launch_chunks(Member& member, const CollectiveCall& call) {
  const std::size_t bytes = part_bytes(call, ranks_);
  for (int other = 0; other < ranks_; ++other) {
    const std::size_t at = bytes * static_cast<std::size_t>(other);
    FORETRAIN_NCCL(*api_, send(member.send.as<char>() + at, bytes / 4, ncclFloat, other,
                               member.communicator.get(), member.stream.get()));
    FORETRAIN_NCCL(*api_, receive(member.receive.as<char>() + at, bytes / 4, ncclFloat, other,
                                  member.communicator.get(), member.stream.get()));
  }
}

void CollectiveGroup::align() {
  each_in_group([&](Member& m) {
    FORETRAIN_NCCL(*api_, all_reduce(m.word.data(), m.word.data(), 1, ncclFloat, ncclSum,
                                     m.communicator.get(), m.stream.get()));
  });
}

bool CollectiveGroup::is_done() {
  for (Member& member : members_) {
    const cudaError_t code = cudaStreamQuery(member.stream.get());
    if (code == cudaErrorNotReady) return false;
    check_cuda(code, "cudaStreamQuery", __FILE__, __LINE__);
  }
  return true;
}

void CollectiveGroup::wait() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_done()) {
    for (const Member& member : members_) {
      ncclResult_t state = ncclSuccess;
      FORETRAIN_NCCL(*api_, async_error(member.communicator.get(), &state));
      if (state != kInProgress) api_->check(state, "an asynchronous collective", __FILE__, __LINE__);
    }
    if (std::chrono::steady_clock::now() > end)
      throw EnvironmentError(fmt::format(
          "NCCL did not finish a collective in {} s; NCCL_DEBUG=INFO tells more", kPatience.count()));
    std::this_thread::yield();
  }
}

std::string CollectiveGroup::difference(Member& member, const CollectiveCall& call) {
  constexpr std::int64_t kChecked = 4096;
  if (call.op == "reduce" && member.rank != 0) return "";
  const OnDevice current(member.device);
  const std::int64_t count = result_elements(call, ranks_);
  for (const std::int64_t first : {std::int64_t{0}, std::max<std::int64_t>(0, count - kChecked)}) {
    const std::int64_t number = std::min(kChecked, count - first);
    const auto found =
        read_elements(Element::fp32, member.receive.as<float>() + first, number, member.stream);
    std::vector<double> expected;
    for (std::int64_t i = first; i < first + number; ++i)
      expected.push_back(collective_result(call.op, member.rank, ranks_, i, call.elements()));
    if (const std::string wrong = first_difference(found, expected, 0); !wrong.empty())
      return fmt::format("on rank {}, from element {} on: {}", member.rank, first, wrong);
  }
  return "";
}

void CollectiveGroup::expect_right(const CollectiveCall& call) {
  for (Member& member : members_) {
    const OnDevice current(member.device);
    float* input = call.in_place ? member.receive.as<float>() : member.send.as<float>();
    FORETRAIN_CUDA(launch_fill_rank(input, input_elements(call, ranks_), member.rank, member.stream.get()));
  }
  launch(call);
  wait();
  std::string wrong;
  for (Member& member : members_) wrong = wrong.empty() ? difference(member, call) : wrong;
  for (const std::string& text : session_.gather(wrong.substr(0, kLongestText))) {
    if (!text.empty()) throw WrongResult(text);
  }
}

double CollectiveGroup::seconds_of(const CollectiveCall& call, int operations) {
  const double hold = kSecondsOfCall * (operations + 2) * static_cast<double>(members_.size());
  for (Member& member : members_) {
    const OnDevice current(member.device);
    FORETRAIN_CUDA(launch_spin(static_cast<std::int64_t>(hold * 1e9), member.stream.get()));
  }
  align();
  const auto record = [&](Event Member::*event) {
    for (Member& member : members_) {
      const OnDevice current(member.device);
      (member.*event).record(member.stream);
    }
  };
  record(&Member::begin);
  for (int i = 0; i < operations; ++i) launch(call);
  record(&Member::end);
  wait();
  double slowest = 0;
  for (const Member& member : members_)
    slowest = std::max(slowest, seconds_between(member.begin, member.end));
  return slowest / operations;
}

Summary CollectiveGroup::time(const CollectiveCall& call, const RepeatRule& rule) {
  constexpr double kBatchSeconds = 500e-6;
  constexpr int kMostAtOnce = 20;
  const auto of_rank_0 = [&](double value) {
    return std::stod(session_.gather(fmt::format("{}", value)).front());
  };
  const auto slowest = [&](double value) {
    for (const std::string& text : session_.gather(fmt::format("{}", value)))
      value = std::max(value, std::stod(text));
    return value;
  };
  seconds_of(call, 2);
  const double first = std::max(1e-6, of_rank_0(seconds_of(call, 2)));
  const int operations = std::clamp(static_cast<int>(kBatchSeconds / first) + 1, 1, kMostAtOnce);
  const auto once = [&] { return seconds_of(call, operations); };
  if (session_.machine.ranks == 1) return repeat(once, rule);
  // Every rank must repeat as often: rank 0 says how often.
  const double repeats =
      of_rank_0(std::clamp(rule.seconds / (first * operations), 1.0 * rule.fewest, 1.0 * rule.most));
  std::vector<double> values;
  for (int i = 0; i < static_cast<int>(repeats); ++i) values.push_back(once());
  Summary summary = summarize(values);
  summary.median = slowest(summary.median);
  return summary;
}

}  // namespace foretrain::micro

#endif
