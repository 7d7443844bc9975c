// NCCL keeps its binary interface within version 2.
#include "calibrate/micro/gpu/nccl.hpp"

#include <fmt/format.h>

#include "calibrate/micro/gpu/check.hpp"
#include "calibrate/micro/plan/python.hpp"

namespace foretrain::micro {

#ifdef FORETRAIN_HAS_NCCL_HEADER

std::shared_ptr<const Nccl> open_nccl(const std::vector<std::string>& folders) {
  auto nccl = std::make_shared<Nccl>();
  nccl->library = open_library("libnccl.so.2", folders);
  if (!nccl->library) nccl->library = SharedLibrary::open({"libnccl.so"});
  Nccl& n = *nccl;
  const SharedLibrary& library = n.library;
  const bool is_whole =
      library.load(n.get_version, "ncclGetVersion") && library.load(n.error_string, "ncclGetErrorString") &&
      library.load(n.unique_id, "ncclGetUniqueId") && library.load(n.init_rank, "ncclCommInitRank") &&
      library.load(n.init_all, "ncclCommInitAll") && library.load(n.destroy, "ncclCommDestroy") &&
      library.load(n.async_error, "ncclCommGetAsyncError") && library.load(n.group_start, "ncclGroupStart") &&
      library.load(n.group_end, "ncclGroupEnd") && library.load(n.all_reduce, "ncclAllReduce") &&
      library.load(n.all_gather, "ncclAllGather") && library.load(n.reduce_scatter, "ncclReduceScatter") &&
      library.load(n.broadcast, "ncclBroadcast") && library.load(n.reduce, "ncclReduce") &&
      library.load(n.send, "ncclSend") && library.load(n.receive, "ncclRecv");
  return is_whole ? nccl : nullptr;
}

std::string nccl_version(const Nccl& nccl) {
  int version = 0;
  if (nccl.get_version(&version) != ncclSuccess) return "";
  const int major =
      version >= 10000 ? 10000 : 1000;  // 2.9 and later count minors by hundreds of ten thousands
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

void Nccl::check(ncclResult_t result, const char* call, const char* file, int line) const {
  if (result == ncclSuccess) return;
  const bool is_about_point = result == ncclInvalidUsage || result == ncclInvalidArgument;
  fail_call(fmt::format("nccl {}", call).c_str(), file, line, error_string(result), is_about_point);
}

#else

struct Nccl {};
std::shared_ptr<const Nccl> open_nccl(const std::vector<std::string>&) { return nullptr; }
std::string nccl_version(const Nccl&) { return ""; }

#endif

}  // namespace foretrain::micro
