// What NCCL's search books for links, and the speeds it tries (docs/sources/nccl_tuning.md 4.1 and 4.2).
#include "sim/collective/nccl/graph_search.hpp"
#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace link_tables_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

auto nvlink(int capability) {
  return [=](const Version& v) { return to_gbps(nvlink_bandwidth(v, capability)); };
}
auto socket(HostFamily family) {
  return [=](const Version& v) { return to_gbps(socket_bandwidth(v, family)); };
}

/// All speeds of a list as one sum, and how many there are: a list that lacks one, or has another, differs.
auto speeds(int capability, bool several_nodes) {
  return [=](const Version& v) {
    double sum = 0;
    for (const Milli speed : search_speeds(v, capability, several_nodes)) sum += to_gbps(speed);
    return sum;
  };
}
constexpr double sum(std::initializer_list<double> list) {
  double all = 0;
  for (const double one : list) all += one;
  return all;
}

constexpr double kSmall = sum({18, 15, 12, 10, 9, 7, 6, 5, 4, 3}), kSmallest = sum({2.4, 1.2, .24, .12});

}  // namespace

TEST_CASE("an NVLink's booked bandwidth by generation and version") {
  check_versions({{{2, 5, 0}, 18}}, nvlink(60));
  for (const int capability : {70, 80})
    check_versions({{{2, 5, 0}, 21}, {{2, 10, 0}, 22}, {{2, 18, 0}, 20}}, nvlink(capability));
  check_versions({{{2, 5, 0}, 21}, {{2, 8, 0}, 12}}, nvlink(86));
  check_versions({{{2, 5, 0}, 21}, {{2, 10, 0}, 22}, {{2, 18, 0}, 20}, {{2, 20, 0}, 20.6}}, nvlink(90));
  check_versions({{{2, 18, 0}, 20}, {{2, 20, 0}, 20.6}, {{2, 25, 0}, 40}, {{2, 27, 0}, 40.1}}, nvlink(100));
}

TEST_CASE("the booked bandwidth between sockets by family and version") {
  check_versions({{{2, 5, 0}, 8}, {{2, 8, 0}, 6}}, socket(HostFamily::intel_broadwell));
  check_versions({{{2, 5, 0}, 12}, {{2, 7, 0}, 9}, {{2, 18, 0}, 10}}, socket(HostFamily::intel_skylake));
  check_versions({{{2, 18, 0}, 10}, {{2, 27, 0}, 22}}, socket(HostFamily::intel_sapphire_rapids));
  check_versions({{{2, 18, 0}, 10}, {{2, 27, 0}, 40}}, socket(HostFamily::intel_emerald_rapids));
  check_versions({{{2, 5, 0}, 5000}, {{2, 19, 0}, 16}}, socket(HostFamily::amd));
  check_versions({{{2, 5, 0}, 32}}, socket(HostFamily::power9));
  check_versions({{{2, 7, 0}, 6}}, socket(HostFamily::arm));
}

TEST_CASE("a link's own figure is booked before its bandwidth, and no more than a device's inside") {
  LinkType type;
  type.bandwidth = {11e9};
  CHECK(to_gbps(link_bandwidth(type)) == 11);
  CHECK(to_gbps(nvlink_bandwidth(type, {2, 20, 5}, 80)) == 20);
  type.nccl_bandwidth = {12.5e9};
  CHECK(to_gbps(link_bandwidth(type)) == 12.5);
  CHECK(to_gbps(nvlink_bandwidth(type, {2, 20, 5}, 80)) == 12.5);
  type.nccl_bandwidth = {1e16};
  CHECK(to_gbps(link_bandwidth(type)) == 5000);
}

TEST_CASE("the speeds of a search on GPUs up to Ada") {
  for (const int capability : {70, 80, 89}) {
    check_versions({{{2, 5, 0}, 42 + 24 + 21 + kSmall + kSmallest},
                    {{2, 8, 0}, 42 + 30 + 24 + 21 + kSmall + kSmallest},
                    {{2, 10, 0}, 44 + 30 + 22 + kSmall},
                    {{2, 18, 0}, 40 + 30 + 20 + kSmall}},
                   speeds(capability, false));
    check_versions({{{2, 8, 0}, 42 + 30 + 24 + 21 + kSmall + kSmallest},
                    {{2, 10, 0}, 48 + 30 + 24 + 22 + kSmall + kSmallest},
                    {{2, 15, 0}, 48 + 28 + 24 + 22 + kSmall + kSmallest},
                    {{2, 18, 0}, 48 + 30 + 28 + 24 + 20 + kSmall + kSmallest}},
                   speeds(capability, true));
  }
}

TEST_CASE("the speeds of a search on Hopper, which has its own since NCCL 2.16") {
  check_versions({{{2, 15, 0}, 44 + 30 + 22 + kSmall},
                  {{2, 16, 0}, sum({66, 33, 24, 20, 15, 12, 6, 3})},
                  {{2, 18, 0}, sum({60, 40, 30, 24, 20, 15, 12, 6, 3})},
                  {{2, 19, 0}, sum({60, 50, 40, 30, 24, 20, 15, 12, 6, 3})},
                  {{2, 21, 0}, sum({60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3})}},
                 speeds(90, false));
  const double low = sum({15, 12, 6, 3}) + kSmallest;
  check_versions({{{2, 16, 0}, 48 + 45 + 30 + 24 + low},
                  {{2, 18, 0}, 48 + 45 + 42 + 40 + 30 + 24 + low},
                  {{2, 18, 3}, 48 + 45 + 42 + 40 + 30 + 24 + 20 + 17.5 + low},
                  {{2, 19, 0}, 48 + 45 + 42 + 40 + 30 + 24 + 22 + 20 + 17.5 + low}},
                 speeds(90, true));
}

TEST_CASE("the speeds of a search on Blackwell, which has its own since NCCL 2.25") {
  const double inside = sum({90, 80, 70, 60, 50, 40, 30, 24, 20, 19});
  const double hopper = sum({60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3});
  check_versions(
      {{{2, 21, 0}, hopper}, {{2, 25, 0}, inside}, {{2, 27, 0}, inside + 18}, {{2, 30, 0}, inside + 18 + 45}},
      speeds(100, false));
  const double low = sum({42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3}) + kSmallest;
  check_versions({{{2, 19, 0}, 48 + 45 + low},
                  {{2, 27, 0}, 96 + 48 + 45.1 + low},
                  {{2, 30, 0}, 96 + 86 + 80 + 48 + 45.1 + low}},
                 speeds(100, true));
}

}  // namespace link_tables_test
