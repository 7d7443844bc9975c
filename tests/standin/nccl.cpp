// NCCL of the made-up machine: what a group's ranks call is gathered and done when the group ends, on all
// GPUs at once.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <nccl.h>

#include "tests/standin/constants.hpp"
#include "tests/standin/device.hpp"

using namespace standin;

struct ncclComm {
  int rank = 0, ranks = 1;
};

namespace {

enum class Op { all_reduce, all_gather, reduce_scatter, broadcast, reduce, send, receive };

/// What one rank called.
struct Call {
  Op op;
  const void* from;
  void* to;
  std::int64_t count;
  int peer;  ///< or root
  ncclComm_t communicator;
  cudaStream_t stream;
};

std::vector<Call> calls;
int depth = 0;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int channels() {
  const std::string most = variable("NCCL_MAX_NCHANNELS");
  return most.empty() ? kChannels : std::clamp(std::atoi(most.c_str()), 1, kChannels);
}

/// LL takes half of the time to begin and half of the rate; LL128 stands between.
double latency_factor() {
  const std::string protocol = variable("NCCL_PROTO");
  return protocol == "LL" ? 0.5 : protocol == "LL128" ? 0.75 : 1;
}

/// Bytes on the busiest link.
double bytes_on_link(const Call& call) {
  const double count = 4.0 * static_cast<double>(call.count), ranks = call.communicator->ranks;
  switch (call.op) {
    case Op::all_reduce:
      return 2 * (ranks - 1) / ranks * count;
    case Op::all_gather:
    case Op::reduce_scatter:
      return (ranks - 1) * count;
    case Op::send:
      return call.peer == call.communicator->rank ? 0 : count;
    case Op::receive:
      return 0;
    default:
      return count;
  }
}

Content sum_of(const std::vector<Content>& parts, std::int64_t shift) {
  double constant = 0;
  bool are_constant = true;
  for (const Content& part : parts)
    are_constant = are_constant && part.constant, constant += part.constant.value_or(0);
  if (are_constant) return Content::all(constant);
  return {[parts, shift](std::int64_t i) {
            double sum = 0;
            for (const Content& part : parts) sum += part.at(i + shift);
            return sum;
          },
          {},
          {}};
}

/// What each rank has after it; a value for each of `same`, which are one call of every rank in order of
/// ranks.
std::vector<Content> results_of(const std::vector<Call>& same) {
  std::vector<Content> sent, results;
  const Op op = same.front().op;
  const auto ranks = static_cast<std::int64_t>(same.size());
  for (const Call& call : same)
    sent.push_back(view(call.from, call.count * (op == Op::reduce_scatter ? ranks : 1), Element::fp32));
  for (std::size_t rank = 0; rank < same.size(); ++rank) {
    const std::int64_t part = same[rank].count;
    if (op == Op::all_reduce || op == Op::reduce) results.push_back(sum_of(sent, 0));
    if (op == Op::reduce_scatter) results.push_back(sum_of(sent, static_cast<std::int64_t>(rank) * part));
    if (op == Op::broadcast) results.push_back(sent[static_cast<std::size_t>(same[rank].peer)]);
    if (op == Op::all_gather)
      results.push_back(
          {[sent, part](std::int64_t i) { return sent[static_cast<std::size_t>(i / part)].at(i % part); },
           {},
           {}});
  }
  return results;
}

void collective(const std::vector<Call>& same) {
  std::vector<Content> results = results_of(same);
  for (std::size_t rank = 0; rank < same.size(); ++rank) {
    const Call& call = same[rank];
    if (call.op == Op::reduce && call.communicator->rank != call.peer) continue;
    const std::int64_t count =
        call.op == Op::all_gather ? call.count * static_cast<std::int64_t>(same.size()) : call.count;
    put(call.to, count, Element::fp32, is_wanted("wrong_nccl") ? Content::all(-1) : std::move(results[rank]));
  }
}

/// Each receive takes the next send of its peer to it.
void exchange(std::vector<Call>& all) {
  std::vector<std::pair<const Call*, Content>> sent;
  for (const Call& call : all) {
    if (call.op == Op::send) sent.emplace_back(&call, view(call.from, call.count, Element::fp32));
  }
  for (const Call& call : all) {
    if (call.op != Op::receive) continue;
    const auto from = std::find_if(sent.begin(), sent.end(), [&](const auto& one) {
      return one.first != nullptr && one.first->communicator->rank == call.peer &&
             one.first->peer == call.communicator->rank;
    });
    if (from == sent.end()) continue;
    put(call.to, call.count, Element::fp32, is_wanted("wrong_nccl") ? Content::all(-1) : from->second);
    from->first = nullptr;
  }
}

void run_group() {
  if (calls.empty()) return;
  std::vector<cudaStream_t> streams;
  std::vector<double> bytes;
  for (const Call& call : calls) {
    const auto at = std::find(streams.begin(), streams.end(), call.stream);
    const auto index = static_cast<std::size_t>(at - streams.begin());
    if (at == streams.end()) streams.push_back(call.stream), bytes.push_back(0);
    bytes[index] += bytes_on_link(call);
  }
  if (calls.front().op == Op::send || calls.front().op == Op::receive)
    exchange(calls);
  else
    collective(calls);
  const double share = channels() / static_cast<double>(kChannels);
  const double rate = kCollectiveRate * share * (latency_factor() < 1 ? latency_factor() : 1);
  const double seconds =
      kCollectiveLatency * latency_factor() + *std::max_element(bytes.begin(), bytes.end()) / rate;
  enqueue_together(streams, is_wanted("hang") ? 1e9 : seconds, kTax * share);
}

ncclResult_t take(const char* name, Call call) {
  if (const int failed = begin_call(name, kLaunchCall); failed != 0) return static_cast<ncclResult_t>(failed);
  if (variable("NCCL_ALGO") == "NVLS") return ncclInvalidUsage;
  calls.push_back(call);
  if (depth > 0) return ncclSuccess;
  run_group();
  calls.clear();
  return ncclSuccess;
}

}  // namespace

#define STANDIN_CALL(seconds) \
  if (const int failed = begin_call(__func__, seconds); failed != 0) return static_cast<ncclResult_t>(failed)

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  STANDIN_CALL(kOtherCall);
  *version = 22005;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "a stand-in's failure";
  }
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  STANDIN_CALL(kOtherCall);
  std::memset(id, 7, sizeof *id);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId, int rank) {
  STANDIN_CALL(kOtherCall);
  *communicator = new ncclComm{rank, ranks};
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int devices, const int*) {
  STANDIN_CALL(kOtherCall);
  for (int i = 0; i < devices; ++i) communicators[i] = new ncclComm{i, devices};
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  STANDIN_CALL(kOtherCall);
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* state) {
  STANDIN_CALL(is_wanted("hang") ? 1.0 : kOtherCall);
  *state = static_cast<ncclResult_t>(begin_call("asynchronous", 0));
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  STANDIN_CALL(kOtherCall);
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  --depth;
  const int failed = begin_call(__func__, kOtherCall);
  if (failed == 0) run_group();
  calls.clear();
  return static_cast<ncclResult_t>(failed);
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t, ncclRedOp_t,
                           ncclComm_t communicator, cudaStream_t stream) {
  return take(__func__,
              {Op::all_reduce, from, to, static_cast<std::int64_t>(count), 0, communicator, stream});
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t,
                           ncclComm_t communicator, cudaStream_t stream) {
  return take(__func__,
              {Op::all_gather, from, to, static_cast<std::int64_t>(count), 0, communicator, stream});
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t, ncclRedOp_t,
                               ncclComm_t communicator, cudaStream_t stream) {
  return take(__func__,
              {Op::reduce_scatter, from, to, static_cast<std::int64_t>(count), 0, communicator, stream});
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  return take(__func__,
              {Op::broadcast, from, to, static_cast<std::int64_t>(count), root, communicator, stream});
}
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t, ncclRedOp_t, int root,
                        ncclComm_t communicator, cudaStream_t stream) {
  return take(__func__, {Op::reduce, from, to, static_cast<std::int64_t>(count), root, communicator, stream});
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return take(__func__,
              {Op::send, from, nullptr, static_cast<std::int64_t>(count), peer, communicator, stream});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  return take(__func__,
              {Op::receive, nullptr, to, static_cast<std::int64_t>(count), peer, communicator, stream});
}

}  // extern "C"
