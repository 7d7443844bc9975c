// Recommendations keep the limits that are given, a deadline gets the smallest job that keeps it, and a first
// run has two nodes at most: over scenarios drawn from the catalogs.
#include <algorithm>

#include "sim/analysis/advice/recommend.hpp"
#include "tests/support/catalog_scenarios.hpp"
#include "tests/support/catch.hpp"

namespace recommendation_laws {

using namespace foretrain;
using test::catalog_scenario;
using test::pick;
using test::Random;

namespace {

bool is_in_time(const JobOption& job, double deadline_s) {
  return job.point.total_interval.high_s <= deadline_s;
}

bool trains(const JobOption& job) { return job.point.fits() && job.point.steps_per_epoch > 0; }

/// Fewer nodes, or as many and fewer GPUs; parts of several nodes are no smaller than whole ones.
bool needs_less(const JobOption& job, const JobOption& other) {
  if (job.point.nodes != other.point.nodes) return job.point.nodes < other.point.nodes;
  const bool is_part_of_nodes = job.point.nodes > 1 && !job.fills_nodes && other.fills_nodes;
  return job.point.gpus < other.point.gpus && !is_part_of_nodes;
}

/// Every listed number is beyond a limit.
bool is_contradiction(const Scenario& scenario, const RecommendationRequest& asked) {
  const auto all = [&](auto is_beyond) {
    return !asked.only_gpus.empty() && std::ranges::all_of(asked.only_gpus, is_beyond);
  };
  return (asked.most_gpus > 0 && all([&](int gpus) { return gpus > asked.most_gpus; })) ||
         (asked.most_nodes > 0 && all([&](int gpus) {
            return gpus <= gpus_of_job(scenario) && reserved_gpus(scenario, gpus).nodes > asked.most_nodes;
          }));
}

RecommendationRequest drawn_request(Random& random) {
  RecommendationRequest request;
  request.goal = pick<Goal>(random, {Goal::balanced, Goal::fastest, Goal::cheapest});
  if (random() % 2 == 0) request.most_gpus = pick<int>(random, {1, 2, 4, 8});
  if (random() % 3 == 0) request.most_nodes = pick<int>(random, {1, 2});
  if (random() % 3 == 0)
    request.only_gpus = pick<std::vector<int>>(random, {{1, 4}, {2, 8}, {4}, {1, 2, 3, 4}});
  if (random() % 2 == 0) request.deadline_s = pick<double>(random, {30, 300, 3600});
  if (random() % 3 == 0) request.budget_gpu_hours = pick<double>(random, {0.05, 0.5, 5});
  return request;
}

void check_recommendation(const Recommendation& r, const RecommendationRequest& asked,
                          const Scenario& scenario) {
  for (const JobOption& job : r.looked_at) {
    CHECK((asked.most_gpus == 0 || job.point.gpus <= asked.most_gpus));
    CHECK((asked.most_nodes == 0 || job.point.nodes <= asked.most_nodes));
    CHECK((asked.only_gpus.empty() || std::ranges::count(asked.only_gpus, job.point.gpus) == 1));
    CHECK(job.strategy == scenario.strategy);
  }
  CHECK(r.best.has_value() == r.why_none.empty());
  if (!r.best) return;
  if (asked.deadline_s) CHECK(is_in_time(*r.best, *asked.deadline_s));
  std::vector<JobOption> proposed = r.runners_up;
  proposed.push_back(*r.best);
  for (const JobOption& job : proposed) {
    CHECK(job.point.fits());
    CHECK(job.point.steps_per_epoch > 0);
    if (asked.budget_gpu_hours) CHECK(job.gpu_hours <= *asked.budget_gpu_hours);
    CHECK(std::ranges::count(r.looked_at, job.point.gpus, [](const JobOption& o) { return o.point.gpus; }) ==
          1);
    // A smaller job that may be late says so.
    if (asked.deadline_s && !is_in_time(job, *asked.deadline_s)) {
      CHECK(job.point.gpus < r.best->point.gpus);
      CHECK_THAT(job.trade, ContainsSubstring("the deadline"));
    }
  }
}

void check_smallest_in_time(const Recommendation& r, double deadline_s) {
  const auto is_possible = [&](const JobOption& job) { return trains(job) && is_in_time(job, deadline_s); };
  if (!r.best) {
    CHECK(std::ranges::none_of(r.looked_at, is_possible));
    return;
  }
  CHECK(is_in_time(*r.best, deadline_s));
  REQUIRE(r.best->keeps_deadline);
  CHECK(*r.best->keeps_deadline >= 0.95 - 1e-9);
  for (const JobOption& job : r.looked_at) {
    INFO(job.point.gpus << " GPUs on " << job.point.nodes << " nodes");
    CHECK_FALSE((is_possible(job) && needs_less(job, *r.best)));
  }
}

/// Between a half and twice the time of one of the jobs.
double deadline_near(const Recommendation& r, Random& random) {
  const double factor = pick<double>(random, {0.5, 0.99, 1, 1.01, 2});
  return factor * pick(random, r.looked_at).point.total_interval.high_s;
}

}  // namespace

TEST_CASE("law: recommendations keep every limit that is given") {
  test::use_source_catalogs();
  Random random(19);
  OpenedCatalogs opened;
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const Scenario scenario = catalog_scenario(random, opened);
    const RecommendationRequest request = drawn_request(random);
    INFO(scenario.model.name << " on " << scenario.cluster.name << " with " << scenario.strategy << ", batch "
                             << scenario.workload.batch_per_gpu);
    if (is_contradiction(scenario, request)) {
      CHECK_THROWS_AS(recommend({scenario, {}}, request), InputError);
      continue;
    }
    const Recommendation r = recommend({scenario, {}}, request);
    check_recommendation(r, request, scenario);
    found += r.best ? 1 : 0;
  }
  CHECK(found > 100);
}

TEST_CASE("law: a deadline gets the smallest job that keeps it, and no goal two nodes at most") {
  test::use_source_catalogs();
  Random random(23);
  OpenedCatalogs opened;
  int with_job = 0, at_two_nodes = 0;
  for (int i = 0; i < 300; ++i) {
    Scenario scenario = catalog_scenario(random, opened);
    scenario.epochs = pick<int>(random, {3, 90, 900});
    INFO(scenario.model.name << " on " << scenario.cluster.name << " with " << scenario.strategy << ", batch "
                             << scenario.workload.batch_per_gpu);
    const Recommendation first = recommend({scenario, {}}, {});
    if (first.looked_at.empty()) continue;
    const auto is_small = [](const JobOption& job) { return trains(job) && job.point.nodes <= 2; };
    if (first.best && std::ranges::any_of(first.looked_at, is_small)) {
      CHECK(first.best->point.nodes <= 2);
      at_two_nodes += first.best->point.nodes == 2 ? 1 : 0;
    }
    RecommendationRequest request;
    request.deadline_s = deadline_near(first, random);
    INFO("deadline " << *request.deadline_s << " s");
    const Recommendation r = recommend({scenario, {}}, request);
    check_smallest_in_time(r, *request.deadline_s);
    with_job += r.best ? 1 : 0;
  }
  CHECK(with_job > 150);
  CHECK(with_job < 300);
  CHECK(at_two_nodes > 20);
}

}  // namespace recommendation_laws
