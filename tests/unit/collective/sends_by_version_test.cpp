// What a send between peers is made of, by version of NCCL: copies of a rank's own part, writes into a peer's
// memory; and the steps that its time counts.
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/collective/nccl/tuning_question.hpp"
#include "tests/unit/collective/timing_question.hpp"

namespace sends_by_version_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// On nodes of four GPUs.
PeerSend send(CollectiveOp op, const nccl::Version& version, int gpus = 4, int processes_per_node = 1) {
  CollectiveSettings settings;
  settings.nccl.version = version, settings.processes_per_node = processes_per_node;
  return OneJob(nvlink_cluster(2, 2), gpus, settings).plan(op, 4 << 20).send;
}

}  // namespace

TEST_CASE("until NCCL 2.7 a block served a rank's own part as well, of all that several peers exchange") {
  check_versions({{{2, 7, 0}, 1 << 20}, {{2, 8, 0}, 0}},
                 [](const nccl::Version& v) { return send(CollectiveOp::alltoall, v).own; });
  check_versions({{{2, 7, 0}, 0}},
                 [](const nccl::Version& v) { return send(CollectiveOp::sendrecv, v).own; });
}

TEST_CASE(
    "ranks of one process on one node write into each other's memory, until cuMem came with NCCL 2.19") {
  const auto direct = [](int gpus, int processes) {
    return [=](const nccl::Version& v) -> double {
      return send(CollectiveOp::alltoall, v, gpus, processes).direct ? 1 : 0;
    };
  };
  check_versions({{{2, 7, 0}, 1}, {{2, 19, 0}, 0}}, direct(4, 1));
  check_versions({{{2, 7, 0}, 0}}, direct(4, 4));
  check_versions({{{2, 7, 0}, 0}}, direct(8, 1));
}

TEST_CASE("a send is one step, over the network where a peer is on another node") {
  Question q;
  PeerSend to_peer;
  to_peer.bytes = 1 << 20, to_peer.shape = {1, 1 << 20, 1 << 17, Protocol::simple}, to_peer.peers = 1;
  to_peer.channels = 2;
  CHECK(time_of_peers(q.in, to_peer).inner_steps == 1);
  CHECK(time_of_peers(q.in, to_peer).network_steps == 0);
  to_peer.remote = 1;
  CHECK(time_of_peers(q.in, to_peer).inner_steps == 0);
  CHECK(time_of_peers(q.in, to_peer).network_steps == 1);
}

TEST_CASE("a node's second child in a balanced tree hangs on its second GPU, so that no NIC's GPU has two") {
  const OneJob job(nvlink_cluster(8, 2), 32);
  const nccl::Job& nccl = job.communicator.job();
  REQUIRE(nccl.input.tree.pattern == nccl::Pattern::balanced_tree);
  for (int channel = 0; channel < nccl.coll_channels; ++channel) {
    const std::vector<nccl::TreeLinks> links = nccl.tree_links(channel);
    int remote = 0;
    for (int rank = 0; rank < 32; ++rank) {
      int of_rank = 0;
      for (const int child : links[static_cast<std::size_t>(rank)].down)
        of_rank += child >= 0 && child / 4 != rank / 4 ? 1 : 0;
      CHECK(of_rank <= 1);
      remote += of_rank;
    }
    CHECK(remote == 7);
  }
}

}  // namespace sends_by_version_test
