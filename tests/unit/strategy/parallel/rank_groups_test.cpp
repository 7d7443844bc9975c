// Places of ranks and the groups they exchange with.
#include "sim/strategy/parallel/rank_groups.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"
#include "tests/support/one_job.hpp"

namespace parallel_rank_groups_test {

using namespace foretrain;

namespace {

constexpr RankGroup kPartitions[] = {RankGroup::tensor,        RankGroup::context,         RankGroup::expert,
                                     RankGroup::expert_tensor, RankGroup::gradients,       RankGroup::shards,
                                     RankGroup::replicas,      RankGroup::expert_gradients};

LargeModelRun job_of(const Degrees& degrees, int shard_group = 0) {
  LargeModelRun job = test::job_of(test::mixtral_8x7b_shape(), degrees, 8);
  job.shard_group = shard_group;
  return job;
}

/// Degrees that use every kind of group, on 2 to 96 GPUs.
std::vector<LargeModelRun> jobs() {
  return {job_of({.data = 2}),
          job_of({.tensor = 4, .pipeline = 2, .data = 3}),
          job_of({.tensor = 2, .pipeline = 3, .context = 2, .data = 8}, 4),
          job_of({.tensor = 2, .context = 2, .expert = 4, .expert_tensor = 2, .data = 4}, 2),
          job_of({.pipeline = 2, .expert = 8, .data = 16}),
          job_of({.tensor = 4, .expert = 8, .data = 4}, 4)};
}

}  // namespace

TEST_CASE("a rank's place and the rank at a place are each other's inverse") {
  const Degrees degrees{.tensor = 2, .pipeline = 3, .context = 2, .data = 4};
  std::set<std::vector<int>> seen;
  for (int rank = 0; rank < degrees.gpus(); ++rank) {
    const RankPlace place = place_of(degrees, rank);
    CHECK(rank_at(degrees, place) == rank);
    seen.insert({place.tensor, place.context, place.data, place.pipeline});
  }
  CHECK(seen.size() == 48);
}

TEST_CASE("tensor ranks are neighbours, stages farthest apart") {
  const Degrees degrees{.tensor = 2, .pipeline = 3, .context = 2, .data = 4};
  CHECK(rank_at(degrees, {.tensor = 1}) == 1);
  CHECK(rank_at(degrees, {.context = 1}) == 2);
  CHECK(rank_at(degrees, {.data = 1}) == 4);       // behind 2 x 2 of tensor and context
  CHECK(rank_at(degrees, {.pipeline = 1}) == 16);  // behind 4 times as many
}

TEST_CASE("every rank is in exactly one group of each kind, all of them of one size and in order") {
  for (const LargeModelRun& job : jobs()) {
    for (const RankGroup group : kPartitions) {
      INFO(to_string(job.degrees) << ", " << name_of(group));
      std::set<std::vector<int>> groups;
      for (int rank = 0; rank < job.gpus(); ++rank) {
        const std::vector<int> ranks = group_ranks(job, group, rank);
        CHECK(std::ranges::count(ranks, rank) == 1);
        CHECK(std::ranges::is_sorted(ranks));
        groups.insert(ranks);
      }
      std::vector<int> all;
      for (const std::vector<int>& ranks : groups) {
        CHECK(ranks.size() == groups.begin()->size());
        all.insert(all.end(), ranks.begin(), ranks.end());
      }
      std::ranges::sort(all);
      CHECK(static_cast<int>(all.size()) == job.gpus());
      CHECK(std::ranges::adjacent_find(all) == all.end());
    }
  }
}

TEST_CASE("groups are as large as their degrees") {
  const LargeModelRun job =
      job_of({.tensor = 2, .context = 2, .expert = 4, .expert_tensor = 2, .data = 4}, 2);
  const auto size = [&](RankGroup group) { return group_ranks(job, group, 5).size(); };
  CHECK(size(RankGroup::tensor) == 2);
  CHECK(size(RankGroup::context) == 2);
  CHECK(size(RankGroup::expert) == 4);
  CHECK(size(RankGroup::expert_tensor) == 2);
  CHECK(size(RankGroup::gradients) == 8);         // data 4 x context 2
  CHECK(size(RankGroup::expert_gradients) == 2);  // 16 ranks over 4 x 2
  CHECK(size(RankGroup::shards) == 2);
  CHECK(size(RankGroup::replicas) == 4);  // 8 / 2
}

TEST_CASE("shards and replicas together are the ranks whose gradients are summed") {
  for (const LargeModelRun& job : jobs()) {
    INFO(to_string(job.degrees));
    for (int rank = 0; rank < job.gpus(); ++rank) {
      std::vector<int> reached;
      for (const int shard : group_ranks(job, RankGroup::shards, rank)) {
        const std::vector<int> replicas = group_ranks(job, RankGroup::replicas, shard);
        reached.insert(reached.end(), replicas.begin(), replicas.end());
      }
      std::ranges::sort(reached);
      CHECK(reached == group_ranks(job, RankGroup::gradients, rank));
    }
  }
}

TEST_CASE("groups but those of stages stay within a stage, and neighbours in the pipeline have one place") {
  const LargeModelRun job = job_of({.tensor = 2, .pipeline = 3, .context = 2, .data = 8}, 4);
  for (int rank = 0; rank < job.gpus(); ++rank) {
    const RankPlace own = place_of(job.degrees, rank);
    for (const RankGroup group : kPartitions)
      for (const int other : group_ranks(job, group, rank))
        CHECK(place_of(job.degrees, other).pipeline == own.pipeline);
    const std::vector<int> pair = group_ranks(job, RankGroup::stages, rank);
    REQUIRE(pair.size() == 2);
    const RankPlace next = place_of(job.degrees, pair.back());
    CHECK(next.pipeline == (own.pipeline + 1) % 3);
    CHECK(rank_at(job.degrees, {next.tensor, next.context, next.data, own.pipeline}) == rank);
    const std::vector<int> ends = group_ranks(job, RankGroup::ends, rank);
    REQUIRE(ends.size() == 2);
    CHECK(place_of(job.degrees, ends.front()).pipeline == 0);
    CHECK(place_of(job.degrees, ends.back()).pipeline == 2);
  }
}

TEST_CASE("one stage has no neighbour, and one rank nobody to exchange with") {
  const LargeModelRun job = job_of({});
  for (int group = 0; group <= static_cast<int>(RankGroup::ends); ++group)
    CHECK(group_ranks(job, static_cast<RankGroup>(group), 0) == std::vector<int>{0});
}

TEST_CASE("an exchange over nodes takes longer than inside one, and groups share what they cross") {
  const ClusterSpec spec = test::h100_cluster(2);
  const Placement ranks = place_packed(16, 8);
  const Cluster cluster = Cluster::build(spec, 2);
  ClusterCollectives collectives(cluster);
  const LargeModelRun job = job_of({.tensor = 8, .data = 2});
  GroupExchanges exchanges(job, cluster, ranks, {}, collectives);
  CHECK(exchanges.nodes(RankGroup::tensor) == 1);
  CHECK(exchanges.nodes(RankGroup::gradients) == 2);
  constexpr double kBytes = 64e6;
  const ExchangeTime inside = exchanges.at(RankGroup::tensor, Exchange::all_gather, kBytes);
  const ExchangeTime across = exchanges.at(RankGroup::gradients, Exchange::all_gather, kBytes);
  CHECK(inside.seconds > 0);
  CHECK(inside.seconds == inside.alone);  // NVLinks of its own
  CHECK(across.alone > inside.alone);
  CHECK(across.seconds >= across.alone);
  CHECK_FALSE(across.how.empty());
}

TEST_CASE("an exchange's time is scaled, asked for once, and nothing among one") {
  const ClusterSpec spec = test::h100_cluster(1);
  const Placement ranks = place_packed(8, 8);
  const Cluster cluster = Cluster::build(spec, 1);
  ClusterCollectives collectives(cluster);
  const LargeModelRun job = job_of({.tensor = 8});
  GroupExchanges exchanges(job, cluster, ranks, {}, collectives),
      half(job, cluster, ranks, {}, collectives, 0.5);
  const ExchangeTime& first = exchanges.at(RankGroup::tensor, Exchange::all_reduce, 1e6);
  CHECK(&first == &exchanges.at(RankGroup::tensor, Exchange::all_reduce, 1e6));
  CHECK(half.at(RankGroup::tensor, Exchange::all_reduce, 1e6).seconds == Approx(first.seconds / 2));
  CHECK(exchanges.at(RankGroup::gradients, Exchange::all_reduce, 1e6).seconds == 0);
  CHECK(exchanges.size(RankGroup::gradients) == 1);
}

}  // namespace parallel_rank_groups_test
