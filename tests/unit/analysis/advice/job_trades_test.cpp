// What the neighbours of a recommended job give and take, and how likely a job is in time.
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/advice/made_up_jobs.hpp"

namespace job_trades_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Of twice the GPUs against 4 GPUs for 10 hours, which cost 40 GPU-hours.
std::string trade(double hours, double cost) {
  JobOption larger = made_up_job(8, hours);
  larger.cost = cost;
  Recommendation r;
  r.cost_unit = "GPU-h";
  r.best = made_up_job(4, 10);
  r.runners_up = {larger};
  add_trades(r);
  return r.runners_up[0].trade;
}

}  // namespace

TEST_CASE("the chance of being in time is that of a lognormal total") {
  const Interval total{4 * kHour, 9 * kHour, 0.9};
  CHECK(chance_in_time(6 * kHour, total, 9 * kHour) == Approx(0.95).epsilon(1e-6));
  CHECK(chance_in_time(6 * kHour, total, 4 * kHour) == Approx(0.05).epsilon(1e-6));
  CHECK(chance_in_time(6 * kHour, total, 6 * kHour) == Approx(0.5));  // the median
  CHECK(chance_in_time(6 * kHour, total, 24 * kHour) > 0.9999);
  CHECK(chance_in_time(6 * kHour, total, 60) < 1e-6);
  const Interval sure{kHour, kHour, 0.9};
  CHECK(chance_in_time(kHour, sure, kHour) == 1);
  CHECK(chance_in_time(kHour, sure, 0.99 * kHour) == 0);
}

TEST_CASE("every job has its chance with a deadline and none without") {
  for (const JobOption& job : chosen(four_jobs(), with_deadline(6)).looked_at) {
    REQUIRE(job.keeps_deadline);
    CHECK((*job.keeps_deadline >= 0.95) == (job.point.gpus == 8));
  }
  CHECK_FALSE(chosen(four_jobs()).best->keeps_deadline);
}

TEST_CASE("beside a job stand those of half and of twice its GPUs") {
  CHECK(runners_up_of(chosen(four_jobs())) == std::vector<int>{2, 8});
  CHECK(runners_up_of(chosen(four_jobs(), with_goal(Goal::fastest))) == std::vector<int>{4, 2});
  CHECK(runners_up_of(chosen(four_jobs(), with_goal(Goal::cheapest))) == std::vector<int>{2, 4});
  std::vector<JobOption> node{made_up_job(1, 40), made_up_job(2, 20), made_up_job(3, 14), made_up_job(4, 10)};
  CHECK(runners_up_of(chosen(node)) == std::vector<int>{2, 1});
  CHECK(runners_up_of(chosen({made_up_job(1, 16), made_up_job(4, 5), made_up_job(24, 1)})) ==
        std::vector<int>{1, 24});
  CHECK(chosen({made_up_job(1, 16)}).runners_up.empty());
}

TEST_CASE("a smaller job may miss the deadline and says with which risk, a larger one may not") {
  const Recommendation r = chosen(four_jobs(), with_deadline(6.5));
  CHECK(r.best->point.gpus == 4);
  CHECK(runners_up_of(r) == std::vector<int>{2, 8});
  CHECK(r.runners_up[0].trade == "1.7 times the time and 15 % fewer GPU-hours, but it misses the deadline");
  CHECK(r.runners_up[1].trade == "20 % less time and 1.6 times the GPU-hours");
  const Recommendation close = chosen(four_jobs(), with_deadline(10));  // 2 GPUs take up to 10.6 h
  CHECK(close.runners_up[0].trade ==
        "1.7 times the time and 15 % fewer GPU-hours, but a 12 % risk to miss the deadline");
  const Recommendation far = chosen(four_jobs(), with_deadline(7.6));
  CHECK_THAT(far.runners_up[0].trade, Catch::Matchers::EndsWith(", but an 80 % risk to miss the deadline"));
  const std::vector<JobOption> slower{made_up_job(4, 5), made_up_job(8, 9)};
  CHECK(chosen(slower, with_deadline(7)).runners_up.empty());
}

TEST_CASE("a job beyond the budget or the memory is not shown beside the best") {
  RecommendationRequest request;
  request.budget_gpu_hours = 18;
  CHECK(runners_up_of(chosen(four_jobs(), request)) == std::vector<int>{1});
  std::vector<JobOption> jobs = four_jobs();
  jobs[1].point.memory.parameters = {2}, jobs[1].point.memory_capacity = {1};
  CHECK(runners_up_of(chosen(jobs)) == std::vector<int>{1, 8});
}

TEST_CASE("trades are said as people say them") {
  CHECK(trade(5, 41.2) == "half the time and 3 % more GPU-hours");
  CHECK(trade(5.05, 40.4) == "half the time and about the same GPU-hours");
  CHECK(trade(8, 64) == "20 % less time and 1.6 times the GPU-hours");
  CHECK(trade(20, 38) == "twice the time and 5 % fewer GPU-hours");
  CHECK(trade(10.1, 80) == "about the same time and twice the GPU-hours");
  CHECK(trade(2.5, 160) == "a quarter of the time and four times the GPU-hours");
  CHECK(trade(3.33, 120) == "a third of the time and three times the GPU-hours");
  CHECK(trade(955, 40) == "96 times the time and about the same GPU-hours");
}

TEST_CASE("a cost is said in its unit, and what is unknown not at all") {
  Recommendation r = chosen(four_jobs());
  r.cost_unit = "BU";
  add_trades(r);
  CHECK(r.runners_up[1].trade == "20 % less time and 1.6 times the BU");
  r.cost_unit.clear();
  r.runners_up[1].cost = 1.05 * r.best->cost;
  add_trades(r);
  CHECK(r.runners_up[1].trade == "20 % less time and 5 % higher cost");
  r.best->cost = 0;
  add_trades(r);
  CHECK(r.runners_up[1].trade == "20 % less time");
  r.best->point.total_s = 0;
  add_trades(r);
  CHECK(r.runners_up[1].trade.empty());
}

}  // namespace job_trades_test
