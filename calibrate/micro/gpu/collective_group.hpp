// The GPUs of a collective: all in this process, or one of each rank of a job; with NCCL's communicators and
// buffers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/micro/gpu/nccl.hpp"
#include "calibrate/micro/gpu/resources.hpp"
#include "calibrate/micro/gpu/session.hpp"
#include "calibrate/micro/plan/repeat.hpp"

#ifdef FORETRAIN_HAS_NCCL_HEADER
namespace foretrain::micro {

/// An operation of nccl-tests' name on floats; bytes as nccl-tests counts them.
struct CollectiveCall {
  std::string op;
  std::int64_t bytes = 0;
  bool in_place = false;
  std::int64_t elements() const { return bytes / 4; }
};

class CollectiveGroup {
 public:
  /// `devices`: those of this process; in a job of several ranks its own one. Every rank must construct it at
  /// the same time.
  CollectiveGroup(const Session& session, const std::vector<int>& devices);
  CollectiveGroup(const CollectiveGroup&) = delete;
  CollectiveGroup& operator=(const CollectiveGroup&) = delete;

  int ranks() const { return ranks_; }
  /// Buffers for it, zeroed. Needed before the others.
  void allocate(const CollectiveCall& call);
  /// Enqueues it on all streams.
  void launch(const CollectiveCall& call);
  /// Runs it once on ranks' patterns and compares what each rank has; throws WrongResult, in every rank of a
  /// job if in one.
  void expect_right(const CollectiveCall& call);
  /// Seconds of one, of the slowest GPU; `operations` are enqueued at once.
  double seconds_of(const CollectiveCall& call, int operations);
  /// Repeats agree between ranks.
  Summary time(const CollectiveCall& call, const RepeatRule& rule);
  /// Waits for all streams; throws EnvironmentError when they take minutes.
  void wait();
  /// Whether everything enqueued is done.
  bool is_done();

 private:
  struct Member {
    int device = 0, rank = 0;
    std::shared_ptr<ncclComm> communicator;
    Stream stream;
    Event begin, end;
    DeviceBuffer send, receive, word;
  };
  void connect(const std::vector<int>& devices);
  void launch_on(Member& member, const CollectiveCall& call);
  void launch_chunks(Member& member, const CollectiveCall& call);
  void align();
  void each_in_group(const std::function<void(Member&)>& call);
  std::string difference(Member& member, const CollectiveCall& call);

  const Session& session_;
  std::shared_ptr<const Nccl> api_;
  int ranks_ = 1;
  std::vector<Member> members_;
};

}  // namespace foretrain::micro
#endif
