// NCCL, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#if __has_include(<nccl.h>)
#include <nccl.h>
#define FORETRAIN_HAS_NCCL_HEADER 1
#endif

#include "sim/base/shared_library.hpp"

namespace foretrain::micro {

struct Nccl;

/// nullptr when there is no libnccl.so.2, or this program was built without the header; `folders` as of
/// open_library().
std::shared_ptr<const Nccl> open_nccl(const std::vector<std::string>& folders);
std::string nccl_version(const Nccl& nccl);

#ifdef FORETRAIN_HAS_NCCL_HEADER
struct Nccl {
  /// Throws as fail_call() says; what NCCL does not support is about the point.
  void check(ncclResult_t result, const char* call, const char* file, int line) const;

  SharedLibrary library;
  decltype(ncclGetVersion)* get_version = nullptr;
  decltype(ncclGetErrorString)* error_string = nullptr;
  decltype(ncclGetUniqueId)* unique_id = nullptr;
  decltype(ncclCommInitRank)* init_rank = nullptr;
  decltype(ncclCommInitAll)* init_all = nullptr;
  decltype(ncclCommDestroy)* destroy = nullptr;
  decltype(ncclCommGetAsyncError)* async_error = nullptr;
  decltype(ncclGroupStart)* group_start = nullptr;
  decltype(ncclGroupEnd)* group_end = nullptr;
  decltype(ncclAllReduce)* all_reduce = nullptr;
  decltype(ncclAllGather)* all_gather = nullptr;
  decltype(ncclReduceScatter)* reduce_scatter = nullptr;
  decltype(ncclBroadcast)* broadcast = nullptr;
  decltype(ncclReduce)* reduce = nullptr;
  decltype(ncclSend)* send = nullptr;
  decltype(ncclRecv)* receive = nullptr;
};
#endif

}  // namespace foretrain::micro

#define FORETRAIN_NCCL(api, call) (api).check((api).call, #call, __FILE__, __LINE__)
