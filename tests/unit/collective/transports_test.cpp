// Transports beyond NCCL: which algorithm each library takes, and what it costs, with the derivation.
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/transports/transport.hpp"
#include "tests/support/catch.hpp"

namespace transports_test {

using namespace foretrain;

namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;
const Time kLatency = microseconds(20);
constexpr ByteRate kLink{1e9};

/// A library on a link that costs nothing but latency and bandwidth.
Transport plain(const std::string& library) {
  Transport transport;
  transport.library = library;
  return transport;
}

Transport gloo() {
  Transport transport = plain("gloo");
  transport.segment = {kMiB};
  transport.segments = 2;
  return transport;
}

Transport grpc() {
  Transport transport = plain("grpc_ring");
  transport.segment = {4 * kMiB};
  transport.segments = 2;
  return transport;
}

TransportPlan plan_of(const Transport& transport, CollectiveOp op, std::int64_t size, int ranks) {
  return plan(transport, op, {size}, ranks, kLatency, kLink);
}

std::string family(const Transport& transport, CollectiveOp op, std::int64_t size, int ranks) {
  return std::string(name_of(*plan_of(transport, op, size, ranks).choice.family));
}

}  // namespace

TEST_CASE("gloo cuts each part of an all-reduce into two segments, more when they would be above 1 MiB") {
  CHECK(plan_of(gloo(), CollectiveOp::all_reduce, 4 * kMiB, 4).choice.pieces ==
        2);  // parts of 1 MiB: two halves
  CHECK(plan_of(gloo(), CollectiveOp::all_reduce, 8 * kMiB, 4).choice.pieces ==
        2);  // parts of 2 MiB: two of 1 MiB
  CHECK(plan_of(gloo(), CollectiveOp::all_reduce, 40 * kMiB, 4).choice.pieces == 10);  // parts of 10 MiB
  CHECK(plan_of(gloo(), CollectiveOp::all_reduce, 4 * kMiB, 4).message.count == kMiB / 2);
}

TEST_CASE("in a small gloo all-reduce the second segment follows in the shadow of the first one's latency") {
  Transport transport = gloo();
  transport.message_overhead = microseconds(15);
  const TransportPlan p = plan_of(transport, CollectiveOp::all_reduce, 8, 4);
  CHECK(p.hops == 6);
  CHECK(p.messages == 12);
  // Each of 6 steps: 15 us and 1 ns for one byte, then 20 us; the other segment is 15 us behind, which shows
  // only in the end.
  CHECK(to_seconds(p.alone) == Approx(6 * (15e-6 + 1e-9 + 20e-6) + 15e-6 + 1e-9));
}

TEST_CASE(
    "a large gloo all-reduce takes 2(n-1)/n of the size, at the wire's rate or the adder's, whichever is "
    "slower") {
  Transport transport = gloo();
  const double bytes = 400e6, share = 2 * 3.0 / 4;
  const std::int64_t size = 400'000'000;
  const double latency = 20e-6;  // of the last segment; the others flow meanwhile
  CHECK(to_seconds(plan_of(transport, CollectiveOp::all_reduce, size, 4).alone) ==
        Approx(latency + share * bytes / 1e9));
  // Half of the bytes that move are added: at 0.25 GB/s that is 2 s per moved GB, slower than the wire.
  transport.add_rate = {0.25e9};
  CHECK(to_seconds(plan_of(transport, CollectiveOp::all_reduce, size, 4).alone) ==
        Approx(latency + share * bytes * 0.5 / 0.25e9));
  // At 1 GB/s it hides behind the wire.
  transport.add_rate = {1e9};
  CHECK(to_seconds(plan_of(transport, CollectiveOp::all_reduce, size, 4).alone) ==
        Approx(latency + share * bytes / 1e9));
}

TEST_CASE("one connection carries no more than its stream's rate, several share the wire") {
  Transport transport = gloo();
  transport.wire_efficiency = 0.9;
  transport.stream_rate = {0.4e9};
  CHECK(plan_of(transport, CollectiveOp::all_reduce, kMiB, 2).rate.per_second == Approx(0.4e9));
  transport.streams = 2;
  CHECK(plan_of(transport, CollectiveOp::all_reduce, kMiB, 2).rate.per_second == Approx(0.8e9));
  transport.streams = 4;
  CHECK(plan_of(transport, CollectiveOp::all_reduce, kMiB, 2).rate.per_second == Approx(0.9e9));
}

TEST_CASE("the header of a message takes its time on the wire") {
  Transport transport = gloo();
  transport.header = {1000};  // 1 us at 1 GB/s
  CHECK(plan_of(transport, CollectiveOp::all_reduce, 8, 2).latency == microseconds(21));
}

TEST_CASE(
    "gloo has a binomial broadcast, gathers after reducing, and all-reduces where a reduce-scatter is asked "
    "for") {
  CHECK(family(gloo(), CollectiveOp::broadcast, kMiB, 8) == "binomial");
  CHECK(family(gloo(), CollectiveOp::reduce, kMiB, 8) == "reduce_scatter_gather");
  CHECK(family(gloo(), CollectiveOp::all_gather, kMiB, 8) == "ring");
  CHECK(family(gloo(), CollectiveOp::alltoall, kMiB, 8) == "direct");
  const TransportPlan p = plan_of(gloo(), CollectiveOp::reduce_scatter, kMiB, 8);
  CHECK(p.choice.runs_as == CollectiveOp::all_reduce);
  CHECK(p.alone == plan_of(gloo(), CollectiveOp::all_reduce, kMiB, 8).alone);
  CHECK_THAT(p.choice.why, ContainsSubstring("no reduce-scatter"));
}

TEST_CASE(
    "Open MPI all-reduces by recursive doubling below 10000 bytes, by rings above, by segments above 1 MiB "
    "per rank") {
  const Transport mpi = plain("open_mpi");
  CHECK(family(mpi, CollectiveOp::all_reduce, 9'999, 8) == "recursive_doubling");
  CHECK(family(mpi, CollectiveOp::all_reduce, 10'000, 8) == "ring");
  CHECK(plan_of(mpi, CollectiveOp::all_reduce, 8 * kMiB, 8).choice.pieces == 1);
  CHECK(plan_of(mpi, CollectiveOp::all_reduce, 8 * kMiB + 1, 8).choice.pieces == 2);
}

TEST_CASE("Open MPI's other rules switch where its source says") {
  const Transport mpi = plain("open_mpi");
  CHECK(family(mpi, CollectiveOp::broadcast, 2'047, 8) == "binomial");
  CHECK(family(mpi, CollectiveOp::broadcast, 2'048, 8) == "double_binary_tree");
  CHECK(family(mpi, CollectiveOp::broadcast, 370'728, 8) == "ring");
  // 8 < 1.6134e-6 x 4e6 + 2.1102 = 8.56: segments of 128 KiB; 3.5e6: 7.76, then 2.3679e-6 x 3.5e6 + 1.1787
  // = 9.47: 64 KiB.
  CHECK(plan_of(mpi, CollectiveOp::broadcast, 4'000'000, 8).choice.pieces == 31);
  CHECK(plan_of(mpi, CollectiveOp::broadcast, 3'500'000, 8).choice.pieces == 54);
  CHECK(family(mpi, CollectiveOp::all_gather, 49'999, 8) == "recursive_doubling");
  CHECK(family(mpi, CollectiveOp::all_gather, 49'999, 6) == "bruck");
  CHECK(family(mpi, CollectiveOp::all_gather, 50'000, 8) == "ring");
  CHECK(family(mpi, CollectiveOp::reduce_scatter, 12'288, 6) == "bruck");
  CHECK(family(mpi, CollectiveOp::reduce_scatter, 200'000, 8) == "recursive_halving");
  CHECK(family(mpi, CollectiveOp::reduce_scatter, 200'000, 6) == "ring");
  CHECK(family(mpi, CollectiveOp::alltoall, 199 * 16, 16) == "bruck");
  CHECK(family(mpi, CollectiveOp::alltoall, 2'999 * 16, 16) == "direct");
  CHECK(family(mpi, CollectiveOp::alltoall, 3'000 * 16, 16) == "pairwise");
  CHECK(family(mpi, CollectiveOp::reduce, 1'000, 16) == "binomial");
  CHECK(family(mpi, CollectiveOp::reduce, 10 * kMiB, 8) == "ring");
  // 0.0033 / 1024 x 10 MiB + 1.6761 = 35.5 ranks: more have segments of 32 KiB, fewer of 64; 0.0410 / 1024 x
  // 100 KiB + 9.7128 = 13.8: more have segments of 1 KiB
  CHECK(plan_of(mpi, CollectiveOp::reduce, 10 * kMiB, 36).choice.pieces == 320);
  CHECK(plan_of(mpi, CollectiveOp::reduce, 10 * kMiB, 35).choice.pieces == 160);
  CHECK(plan_of(mpi, CollectiveOp::reduce, 100 << 10, 14).choice.pieces == 100);
  CHECK(plan_of(mpi, CollectiveOp::reduce, 100 << 10, 13).choice.pieces == 4);
  CHECK(family(mpi, CollectiveOp::gather, kMiB, 8) == "direct");
}

TEST_CASE("MPICH's rules switch where its control variables say") {
  const Transport mpi = plain("mpich");
  CHECK(family(mpi, CollectiveOp::all_reduce, 2'048, 8) == "recursive_doubling");
  CHECK(family(mpi, CollectiveOp::all_reduce, 2'049, 8) == "recursive_halving_doubling");
  CHECK(family(mpi, CollectiveOp::broadcast, 12'287, 8) == "binomial");
  CHECK(family(mpi, CollectiveOp::broadcast, 12'288, 7) == "binomial");
  CHECK(family(mpi, CollectiveOp::broadcast, 12'288, 8) == "scatter_all_gather");
  CHECK(family(mpi, CollectiveOp::all_gather, 524'287, 8) == "recursive_doubling");
  CHECK(family(mpi, CollectiveOp::all_gather, 81'920, 6) == "bruck");
  CHECK(family(mpi, CollectiveOp::all_gather, 81'921, 6) == "ring");
  CHECK(family(mpi, CollectiveOp::alltoall, 256 * 8, 8) == "bruck");
  CHECK(family(mpi, CollectiveOp::alltoall, 32'768 * 8, 8) == "direct");
  CHECK(family(mpi, CollectiveOp::alltoall, 32'769 * 8, 8) == "pairwise");
  CHECK(family(mpi, CollectiveOp::reduce, 2'049, 8) == "reduce_scatter_gather");
  CHECK(family(mpi, CollectiveOp::reduce_scatter, 524'288, 8) == "recursive_halving");
  CHECK(family(mpi, CollectiveOp::reduce_scatter, 524'288, 6) == "bruck");
  CHECK(family(mpi, CollectiveOp::reduce_scatter, 524'289, 8) == "direct");
}

TEST_CASE("a message above the eager limit asks first, which takes a round trip, and is not copied") {
  Transport mpi = plain("open_mpi");
  mpi.eager_limit = {12 * kKiB};
  mpi.eager_copy_rate = {0.5e9};
  mpi.rendezvous_overhead = microseconds(1);
  // Ring of 8: parts of size / 8.
  const TransportPlan eager = plan_of(mpi, CollectiveOp::all_reduce, 8 * 12 * kKiB, 8);
  CHECK_FALSE(eager.rendezvous);
  CHECK(eager.latency == kLatency);
  CHECK(eager.host_seconds_per_byte == Approx(2e-9));
  const TransportPlan asked = plan_of(mpi, CollectiveOp::all_reduce, 8 * 12 * kKiB + 8, 8);
  CHECK(asked.rendezvous);
  CHECK(asked.latency == 3 * kLatency);
  CHECK(asked.overhead == microseconds(1));
  CHECK(asked.host_seconds_per_byte == 0);
  // 14 steps: three latencies and 1 us each, and 12 289 bytes at 1 GB/s.
  CHECK(to_seconds(asked.alone) == Approx(14 * (60e-6 + 1e-6 + 12289e-9)));
}

TEST_CASE("a short MPI all-reduce of 8 ranks takes log2 8 latencies and log2 8 times the message") {
  Transport mpi = plain("open_mpi");
  mpi.message_overhead = microseconds(1);
  CHECK(to_seconds(plan_of(mpi, CollectiveOp::all_reduce, 1000, 8).alone) ==
        Approx(3 * (20e-6 + 1e-6 + 1e-6)));
}

TEST_CASE("Rabenseifner moves 2(n-1)/n of the size in 2 log2 n messages") {
  const TransportPlan p = plan_of(plain("mpich"), CollectiveOp::all_reduce, kMiB, 8);
  CHECK(p.hops == 6);
  CHECK(p.message.count == kMiB / 2);
  CHECK(to_seconds(p.alone) == Approx(6 * 20e-6 + 1.75 * kMiB * 1e-9));
}

TEST_CASE("TensorFlow's ring has one subdivision up to 4 MiB per rank and two above") {
  CHECK(plan_of(grpc(), CollectiveOp::all_reduce, 16 * kMiB, 4).choice.pieces == 1);
  CHECK(plan_of(grpc(), CollectiveOp::all_reduce, 16 * kMiB + 4, 4).choice.pieces == 2);
  CHECK(plan_of(grpc(), CollectiveOp::all_reduce, 1024 * kMiB, 4).choice.pieces == 2);
  CHECK(family(grpc(), CollectiveOp::broadcast, kMiB, 4) == "binary_tree");
}

TEST_CASE("serialising adds to the wire's time unless two subdivisions overlap") {
  Transport transport = grpc();
  transport.host_rate = {2e9};
  const double share = 1.5, small = 16.0 * kMiB, large = 32.0 * kMiB, latency = 6 * 20e-6;
  CHECK(to_seconds(plan_of(transport, CollectiveOp::all_reduce, 16 * kMiB, 4).alone) ==
        Approx(latency + share * small * 1.5e-9));
  CHECK(to_seconds(plan_of(transport, CollectiveOp::all_reduce, 32 * kMiB, 4).alone) ==
        Approx(20e-6 + share * large * 1e-9));
}

TEST_CASE("what a library cannot do is said and takes no time") {
  const TransportPlan p = plan_of(grpc(), CollectiveOp::alltoall, kMiB, 4);
  CHECK(!p.choice.family);
  CHECK(p.choice.why == "TensorFlow has no alltoall over gRPC");
  CHECK(p.alone == Time{});
  CHECK(plan_of(gloo(), CollectiveOp::all_reduce, kMiB, 1).alone == Time{});
}

TEST_CASE("every library chooses a row that exists, for every op, size and number of ranks") {
  for (const TransportLibrary& library : transport_libraries()) {
    Transport transport = gloo();
    transport.library = library.name;
    for (const CollectiveOp op : kCollectiveOps) {
      for (const int ranks : {2, 3, 8, 100, 1024}) {
        Time before{};
        for (const std::int64_t size : {0LL, 1LL, 4'096LL, 300'000LL, 10'000'000LL, 1LL << 60}) {
          const TransportPlan p = plan_of(transport, op, size, ranks);
          INFO(library.name << " " << name_of(op) << " " << size << " bytes, " << ranks << " ranks");
          if (!p.choice.family) continue;
          CHECK(find_algorithm(p.choice.runs_as, *p.choice.family) != nullptr);
          CHECK(p.choice.pieces >= 1);
          CHECK(p.alone >= kLatency);
          CHECK(p.alone <= kLongestTime);
          if (size >= 10'000'000) CHECK(p.alone >= before);
          before = p.alone;
        }
      }
    }
  }
}

TEST_CASE("transport files have known keys only") {
  std::set<std::string> known;
  for (const TransportKey& key : transport_keys()) known.emplace(key.name);
  for (const char* name : {"gloo_tcp", "mpi_ib", "mpi_tcp", "grpc"}) {
    std::ifstream file(fmt::format("{}/topologies/transports/{}.toml", FORETRAIN_SOURCE_DIR, name));
    REQUIRE(file);
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      INFO(name << ": " << line);
      CHECK(known.count(line.substr(0, line.find(' '))) == 1);
      if (line.starts_with("library"))
        CHECK(find_transport_library(line.substr(11, line.find('"', 11) - 11)) != nullptr);
      else
        CHECK(line.find(" # ") != std::string::npos);  // a source, or "assumed"
    }
  }
}

}  // namespace transports_test
