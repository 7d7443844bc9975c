// What frameworks do differently, as facts.
#include "sim/workload/framework_profile.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace framework_profile_test {

using namespace foretrain;

namespace {

Framework of(FrameworkKind kind, FrameworkVersion version, Execution execution) {
  Framework framework = usual_framework(kind);
  framework.version = version, framework.execution = execution;
  return framework;
}

}  // namespace

TEST_CASE("a range of versions holds both its ends, and all later ones without a last") {
  const VersionRange some{{1, 7}, FrameworkVersion{1, 11}}, open{{2, 4}};
  CHECK(!some.holds({1, 6}));
  CHECK(some.holds({1, 7}));
  CHECK(some.holds({1, 11}));
  CHECK(!some.holds({1, 12}));
  CHECK(!open.holds({2, 3}));
  CHECK(open.holds({3, 0}));
}

TEST_CASE("a framework has a name, a usual version and a usual way of running of its own") {
  for (const FrameworkKind kind : {FrameworkKind::pytorch, FrameworkKind::tensorflow}) {
    const FrameworkProfile& profile = profile_of(kind);
    const Framework usual = usual_framework(kind);
    CHECK(name_of(kind) == profile.name);
    CHECK(usual.version == profile.usual_version);
    REQUIRE(!profile.executions.empty());
    CHECK(usual.execution == profile.executions.front());
    const auto graph = std::count(profile.executions.begin(), profile.executions.end(), Execution::graph);
    CHECK((graph == 1) == profile.has_graph_executor);
  }
}

TEST_CASE("only what XLA compiles hands over its gradients together") {
  using enum Execution;
  CHECK(gradients_come_together(of(FrameworkKind::tensorflow, {2, 15}, compiled)));
  CHECK(!gradients_come_together(of(FrameworkKind::tensorflow, {2, 15}, graph)));
  CHECK(!gradients_come_together(of(FrameworkKind::pytorch, {2, 3}, compiled)));
}

TEST_CASE("a step is a graph's unless it runs eagerly or its framework has none") {
  using enum Execution;
  CHECK(is_graph(of(FrameworkKind::tensorflow, {2, 15}, graph)));
  CHECK(is_graph(of(FrameworkKind::tensorflow, {2, 15}, compiled)));
  CHECK(!is_graph(of(FrameworkKind::tensorflow, {2, 15}, eager)));
  CHECK(!is_graph(of(FrameworkKind::pytorch, {2, 3}, cuda_graphs)));
}

TEST_CASE("PyTorch packs tensors since 2.0, TensorFlow never") {
  CHECK(!packs_by_default(of(FrameworkKind::pytorch, {1, 13}, Execution::eager)));
  CHECK(packs_by_default(of(FrameworkKind::pytorch, {2, 0}, Execution::eager)));
  CHECK(!packs_by_default(of(FrameworkKind::tensorflow, {2, 15}, Execution::eager)));
}

}  // namespace framework_profile_test
