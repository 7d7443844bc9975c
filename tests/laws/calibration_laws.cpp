// Laws of the constants that a calibration may replace: named once, taken back as they were put in, defaults
// that physics allows.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/collective/costs.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "tests/support/catch.hpp"

namespace calibration_laws {

using namespace foretrain;

namespace {

constexpr Architecture kGpus[] = {Architecture::kepler, Architecture::pascal,    Architecture::volta,
                                  Architecture::turing, Architecture::ampere,    Architecture::ada,
                                  Architecture::hopper, Architecture::blackwell, Architecture::cdna,
                                  Architecture::cdna2,  Architecture::cdna3};

/// Times are whole picoseconds: the shortest in any range is 1 ns, a thousand of them.
constexpr double kRounding = 1e-3;

/// What is put in comes out, nothing else of the table changes, and the row changes the holder at all.
template <class Holder>
void check_round_trips(const std::vector<ConstantOf<Holder>>& table) {
  for (const ConstantOf<Holder>& row : table) {
    INFO(row.range.name);
    Holder holder;
    std::vector<double> before;
    for (const ConstantOf<Holder>& other : table) before.push_back(other.get(holder));
    for (const double value :
         {row.range.least, std::sqrt(row.range.least * row.range.most), row.range.most}) {
      row.set(holder, value);
      CHECK(row.get(holder) == Approx(value).epsilon(kRounding));
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (&table[i] != &row) CHECK(table[i].get(holder) == before[i]);
    }
  }
}

/// Defaults are allowed values, or zero: the machine has no such thing, or nobody knows.
template <class Holder>
void check_defaults(const std::vector<ConstantOf<Holder>>& table, const Holder& holder,
                    const std::string& whose) {
  for (const ConstantOf<Holder>& row : table) {
    const double value = row.get(holder);
    INFO(whose << ": " << row.range.name << " = " << value);
    CHECK((value == 0 || (value >= row.range.least && value <= row.range.most)));
  }
}

}  // namespace

TEST_CASE("every constant that can be calibrated has a name of its own, a meaning, a range and a prior") {
  std::set<std::string> names;
  for (const ConstantRange& range : calibratable_constants()) {
    INFO(range.name);
    CHECK(names.insert(range.name).second);
    CHECK(range.least > 0);
    CHECK(range.least < range.most);
    CHECK(std::isfinite(range.most));
    CHECK(range.prior > 0);
    CHECK(range.prior < 1);  // two thirds of machines within a factor of e
    CHECK_FALSE(range.meaning.empty());
    CHECK(range.name.find('.') != std::string::npos);
    CHECK(std::ranges::all_of(range.name, [](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || c == '_' || c == '.' || c == '*';
    }));
  }
}

TEST_CASE("every constant that can be calibrated is found by its name, and is the only one of that name") {
  const std::vector<ConstantRange> known = calibratable_constants();
  for (const ConstantRange& range : known) {
    std::string name = range.name;
    if (const std::size_t star = name.find('*'); star != std::string::npos)
      name.replace(star, 1, "ib_hdr100");
    INFO(name);
    REQUIRE(find_constant(known, name) != nullptr);
    CHECK(find_constant(known, name)->name == range.name);
  }
}

TEST_CASE("every constant is taken back as it was put in, and no other changes with it") {
  check_round_trips(gpu_constants());
  check_round_trips(host_constants());
  check_round_trips(link_constants());
  check_round_trips(host_call_constants());
  check_round_trips(kernel_constants());
  check_round_trips(collective_constants());
  check_round_trips(loss_constants());
}

TEST_CASE("the defaults of every generation of GPU are values that a calibration may have") {
  for (const Architecture architecture : kGpus) {
    const std::string whose = "architecture " + std::to_string(static_cast<int>(architecture));
    Gpu gpu;
    gpu.architecture = architecture;
    check_defaults(kernel_constants(), default_kernel_calibration(gpu), whose);
    gpu.compute_capability = 8.6;
    check_defaults(kernel_constants(), default_kernel_calibration(gpu), whose + ", 8.6");
    check_defaults(collective_constants(), costs_of(architecture), whose);
    check_defaults(loss_constants(), losses_of(architecture), whose);
  }
  check_defaults(host_call_constants(), HostCalibration{}, "any host");
}

TEST_CASE(
    "the GPU, the host and the links of every cluster of the catalog are within the ranges of their "
    "constants") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    const ClusterSpec cluster = open_uncalibrated_cluster(name);
    check_defaults(gpu_constants(), cluster.node.gpu, name);
    check_defaults(host_constants(), cluster.node.host, name);
    for (const LinkType& link : link_types_of(cluster)) {
      check_defaults(link_constants(), link, name + ", " + link.name);
      INFO(name << ", " << link.name);
      CHECK((link.line_rate.per_second == 0 || link.bandwidth <= link.line_rate));
    }
  }
}

TEST_CASE("a calibration of nothing leaves every cluster of the catalog as it is") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    INFO(name);
    const ClusterSpec before = open_uncalibrated_cluster(name), after = calibrated(before, {});
    check_defaults(gpu_constants(), after.node.gpu, name);
    for (const ConstantOf<Gpu>& row : gpu_constants())
      CHECK(row.get(after.node.gpu) == row.get(before.node.gpu));
    for (const ConstantOf<Host>& row : host_constants())
      CHECK(row.get(after.node.host) == row.get(before.node.host));
    const std::vector<LinkType> links = link_types_of(before), same = link_types_of(after);
    REQUIRE(links.size() == same.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      for (const ConstantOf<LinkType>& row : link_constants()) CHECK(row.get(same[i]) == row.get(links[i]));
    }
  }
}

}  // namespace calibration_laws
