// Which of some made-up jobs is best: by time, by cost, by a deadline, and by whether doublings pay.
#include "sim/analysis/advice/job_order.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/made_up_jobs.hpp"

namespace job_order_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("smaller jobs have fewer nodes, then whole nodes where there are several, then fewer GPUs") {
  CHECK(is_smaller(made_up_job(4, 1), made_up_job(8, 1)));
  CHECK(is_smaller(made_up_job(3, 1), made_up_job(4, 1)));
  CHECK(is_smaller(made_up_job(8, 1), made_up_job(6, 1)));
  CHECK_FALSE(is_smaller(made_up_job(6, 1), made_up_job(8, 1)));
  CHECK(is_smaller(made_up_job(6, 1), made_up_job(12, 1)));
  CHECK_FALSE(is_smaller(made_up_job(4, 1), made_up_job(4, 2)));
}

TEST_CASE("of alike jobs whole nodes go first, then the smaller job") {
  CHECK(is_tidier(made_up_job(4, 1), made_up_job(3, 1)));
  CHECK(is_tidier(made_up_job(4, 1), made_up_job(8, 1)));
  CHECK(is_tidier(made_up_job(2, 1), made_up_job(3, 1)));
  CHECK_FALSE(is_tidier(made_up_job(3, 1), made_up_job(4, 1)));
}

TEST_CASE("the noise of a ratio is that of two runs of one job") {
  CHECK(is_alike(1.02, 1));
  CHECK(is_alike(1, 1.02));
  CHECK_FALSE(is_alike(1.03, 1));
  CHECK_FALSE(is_alike(1, 1.03));
}

TEST_CASE("fastest is the shortest run and cheapest the least cost") {
  CHECK(best_of(four_jobs(), with_goal(Goal::fastest)) == 8);
  CHECK(best_of(four_jobs(), with_goal(Goal::cheapest)) == 1);
  CHECK(best_of(scaling_jobs(16), with_goal(Goal::fastest)) == 32);
}

TEST_CASE("differences within the noise decide nothing, and whole nodes win the tie") {
  CHECK(best_of({made_up_job(4, 5), made_up_job(8, 4.9)}, with_goal(Goal::fastest)) == 4);
  CHECK(best_of({made_up_job(4, 5), made_up_job(8, 4.8)}, with_goal(Goal::fastest)) == 8);
  // Three of four GPUs are 0.5 % cheaper than the node.
  const std::vector<JobOption> node{made_up_job(2, 24), made_up_job(3, 15.5), made_up_job(4, 11.68)};
  CHECK(best_of(node, with_goal(Goal::cheapest)) == 4);
  CHECK(best_of({made_up_job(3, 15.5), made_up_job(4, 12.1)}, with_goal(Goal::cheapest)) == 3);
  CHECK(best_of({made_up_job(8, 5), made_up_job(16, 2.5)}, with_goal(Goal::cheapest)) == 8);
}

TEST_CASE("ties are held against the best job and do not add up") {
  // Each is 2 % shorter than the one before it, and 4 GPUs are 4 % longer than 16.
  const std::vector<JobOption> jobs{made_up_job(4, 5), made_up_job(8, 4.9), made_up_job(16, 4.8)};
  CHECK(best_of(jobs, with_goal(Goal::fastest)) == 8);
}

TEST_CASE("a deadline takes the smallest job that keeps it at the end of the interval") {
  CHECK(best_of(four_jobs(), with_deadline(100)) == 1);
  CHECK(best_of(four_jobs(), with_deadline(20)) == 1);  // up to 20 h
  CHECK(best_of(four_jobs(), with_deadline(19.9)) == 2);
  CHECK(best_of(four_jobs(), with_deadline(6.5)) == 4);
  CHECK(best_of(four_jobs(), with_deadline(6)) == 8);  // 4 GPUs take 5 h, up to 6.25
  CHECK(best_of({made_up_job(6, 5), made_up_job(8, 4)}, with_deadline(10)) == 8);
  CHECK(best_of(scaling_jobs(16), with_deadline(1)) == 32);  // the deadline needs eight nodes
}

TEST_CASE("with a deadline the other goals choose among the jobs that keep it") {
  RecommendationRequest request = with_deadline(10);
  request.goal = Goal::cheapest;
  CHECK(best_of(four_jobs(), request) == 4);  // 20 GPU-hours; 2 GPUs take up to 10.6 h
  request.goal = Goal::fastest;
  CHECK(best_of(four_jobs(), request) == 8);
}

TEST_CASE("without a deadline GPUs are doubled while that pays") {
  CHECK(best_of(four_jobs()) == 4);  // 1.88, 1.7 and 1.25 times as fast
  RecommendationRequest request;
  request.efficiency = 0.95;
  CHECK(best_of(four_jobs(), request) == 1);
  request.efficiency = 0.6;
  CHECK(best_of(four_jobs(), request) == 8);
  // The first doubling that does not pay ends it, whatever comes later.
  CHECK(best_of({made_up_job(1, 16), made_up_job(2, 15), made_up_job(4, 4)}) == 1);
}

TEST_CASE("a number between doublings must pay in proportion, and a full node may fall short by the noise") {
  CHECK(best_of({made_up_job(2, 10), made_up_job(3, 8)}) == 3);                       // 1.25 times, 1.22 pays
  CHECK(best_of({made_up_job(2, 10), made_up_job(3, 8.5)}) == 2);                     // 1.18
  CHECK(best_of({made_up_job(2, 10), made_up_job(3, 8), made_up_job(4, 7.2)}) == 4);  // 1.39 of 1.4
  CHECK(best_of({made_up_job(4, 10), made_up_job(8, 7.2)}) == 4);                     // more nodes win no tie
  CHECK(best_of({made_up_job(1, 16), made_up_job(4, 8)}) == 4);  // two doublings, 2 of 1.96
  CHECK(best_of({made_up_job(1, 16), made_up_job(4, 8.6)}) == 1);
}

TEST_CASE("GPUs that are paid and idle cost nothing more when they work") {
  JobOption one = made_up_job(1, 10), four = made_up_job(4, 9);
  CHECK(best_of({one, four}) == 1);
  one.gpu_hours = 40;  // of the whole node
  CHECK(best_of({one, four}) == 4);
}

TEST_CASE("below a quarter of an hour no doubling pays") {
  CHECK(best_of({made_up_job(1, 0.2), made_up_job(2, 0.11)}) == 1);
  CHECK(best_of({made_up_job(1, 0.5), made_up_job(2, 0.26), made_up_job(4, 0.14)}) == 2);
  CHECK(best_of({made_up_job(1, 0.2), made_up_job(2, 0.11)}, with_goal(Goal::fastest)) == 2);
}

TEST_CASE("a first run has at most two nodes, and a note says what more would give") {
  const Recommendation first = chosen(scaling_jobs(160));
  CHECK(first.best->point.gpus == 8);
  REQUIRE(first.notes.size() == 1);
  CHECK(first.notes.front() ==
        "More than two nodes: 32 GPUs on 8 nodes would take 5 h; confirm on two nodes first");
  RecommendationRequest measured;
  measured.first_run_nodes = 0;
  CHECK(best_of(scaling_jobs(160), measured) == 32);
  CHECK(chosen(scaling_jobs(160), measured).notes.empty());
  CHECK(chosen(four_jobs()).notes.empty());
}

TEST_CASE("where only larger jobs are possible the first run is the smallest of them") {
  const Recommendation r = chosen({made_up_job(16, 10), made_up_job(32, 5)});
  CHECK(r.best->point.gpus == 16);
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes.front() == "More than 4 nodes: 32 GPUs on 8 nodes would take 5 h; confirm on 4 nodes first");
}

TEST_CASE("a budget limits the doublings") {
  RecommendationRequest request;
  request.budget_gpu_hours = 18;  // of 16, 17, 20 and 32
  CHECK(best_of(four_jobs(), request) == 2);
}

}  // namespace job_order_test
