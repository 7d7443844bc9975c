// The constants of docs/models/collectives.md are the program's, generation by generation; each may be
// measured within its range.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sim/collective/costs.hpp"
#include "tests/support/catch.hpp"

namespace cost_tables_test {

using namespace foretrain;

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// The numbers of a cell, in its order.
std::vector<double> numbers(const std::string& cell) {
  std::vector<double> out;
  std::string text = cell;
  for (char& c : text) {
    if (c == ',' || c == ';') c = ' ';
  }
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    std::istringstream number(word);
    if (double value = 0; number >> value) out.push_back(value);
  }
  return out;
}

/// Cells behind the first one of the page's rows, by the first one.
std::map<std::string, std::vector<std::string>> rows_of_page() {
  std::ifstream file(std::string(FORETRAIN_SOURCE_DIR) + "/docs/models/collectives.md");
  std::map<std::string, std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string> cells = split(line.substr(2), '|');
    std::string name = cells.front().substr(0, cells.front().find_last_not_of(' ') + 1);
    cells.erase(cells.begin());
    rows.try_emplace(name, std::move(cells));
  }
  return rows;
}

std::vector<double> us(std::initializer_list<Time> times) {
  std::vector<double> out;
  for (const Time time : times) out.push_back(to_seconds(time) * 1e6);
  return out;
}
std::vector<double> us_of(const ByProtocol<Time>& times) { return us({times[0], times[1], times[2]}); }

void check_equal(const std::vector<double>& page, const std::vector<double>& own) {
  REQUIRE(page.size() == own.size());
  for (std::size_t i = 0; i < own.size(); ++i) CHECK(page[i] == Approx(own[i]));
}

std::vector<double> gigabytes(const ByProtocol<ByteRate>& rates) {
  return {rates[0].per_second / 1e9, rates[1].per_second / 1e9, rates[2].per_second / 1e9};
}

void check_same(Architecture architecture, Architecture as) {
  const CollectiveCosts costs = costs_of(architecture), others = costs_of(as);
  for (const ConstantOf<CollectiveCosts>& row : collective_constants()) {
    INFO(row.range.name);
    CHECK(row.get(costs) == row.get(others));
  }
}

}  // namespace

TEST_CASE("the page's table of costs by generation is what each generation costs") {
  const auto rows = rows_of_page();
  const Architecture generations[] = {Architecture::volta, Architecture::ampere, Architecture::hopper,
                                      Architecture::blackwell};
  for (std::size_t g = 0; g < 4; ++g) {
    const CollectiveCosts costs = costs_of(generations[g]);
    const auto page = [&](const char* name) { return numbers(rows.at(name).at(g)); };
    CAPTURE(g);
    check_equal(page("launch"), us({costs.launch}));
    check_equal(page("kernel"), us({costs.kernel}));
    check_equal(page("simple start"), us({costs.simple_start}));
    check_equal(page("ring step, NVLink"), us_of(costs.ring_step));
    check_equal(page("tree step, NVLink"), us_of(costs.tree_step));
    check_equal(page("peer channel rate"), {costs.peer_channel_rate.per_second / 1e9});
    check_equal(page("channel rate"), gigabytes(costs.channel_rate));
    check_equal(page("copy rate"), {costs.copy_rate.per_second / 1e9});
  }
}

TEST_CASE("the page's costs that all GPUs have in common") {
  const auto rows = rows_of_page();
  const auto page = [&](const char* name) { return numbers(rows.at(name).at(0)); };
  for (const Architecture architecture :
       {Architecture::volta, Architecture::ampere, Architecture::hopper, Architecture::blackwell}) {
    const CollectiveCosts costs = costs_of(architecture);
    check_equal(page("channel enqueue; channel start (before 2.10)"),
                us({costs.channel_enqueue, costs.channel_start}));
    check_equal(page("group launch"), us({costs.group_launch}));
    check_equal(page("peer start"), us({costs.peer_start}));
    check_equal(page("peer enqueue; peer message"), us({costs.peer_enqueue, costs.peer_message}));
    check_equal(page("socket rate; socket step"),
                {costs.socket_rate.per_second / 1e9, to_seconds(costs.socket_step) * 1e6});
    check_equal(page("PCIe step"), us_of(costs.pcie_step));
    std::vector<double> network(costs.network_factor.begin(), costs.network_factor.end());
    for (const double extra : us_of(costs.network_step)) network.push_back(extra);
    check_equal(page("network factor; extra"), network);
    const bool newest = architecture == Architecture::blackwell;
    const std::vector<double> multicast = page("multicast start; efficiency");
    CHECK(multicast.at(0) == Approx(to_seconds(costs.multicast_start) * 1e6));
    CHECK(multicast.at(newest ? 2 : 1) == Approx(costs.multicast_efficiency));
  }
}

TEST_CASE("GPUs that no open row is of take the costs of the page's generation") {
  for (const Architecture old :
       {Architecture::cpu, Architecture::kepler, Architecture::pascal, Architecture::turing})
    check_same(old, Architecture::volta);
  for (const Architecture like : {Architecture::ada, Architecture::cdna, Architecture::cdna2})
    check_same(like, Architecture::ampere);
  check_same(Architecture::cdna3, Architecture::hopper);
}

TEST_CASE("every cost of every generation lies within the range that a measured one may have") {
  std::set<std::string> names;
  for (const ConstantOf<CollectiveCosts>& row : collective_constants()) {
    INFO(row.range.name);
    CHECK(names.insert(row.range.name).second);
    if (row.range.name.find("efficiency") != std::string::npos) CHECK(row.range.most == 1);  // a share
    for (const Architecture architecture :
         {Architecture::volta, Architecture::ampere, Architecture::hopper, Architecture::blackwell}) {
      CollectiveCosts costs = costs_of(architecture);
      const double value = row.get(costs);
      CHECK((value == 0 || row.range.least <= value));  // LL has no part beyond the network's latency
      CHECK(value <= row.range.most);
      row.set(costs, row.range.most);
      CHECK(row.get(costs) == Approx(row.range.most));
    }
  }
  for (const char* table : {"ring_step", "tree_step", "pcie_step", "network_step", "network_factor",
                            "link_efficiency", "network_efficiency", "channel_rate"}) {
    for (const char* protocol : {".ll", ".ll128", ".simple"})
      CHECK(names.contains(std::string("nccl.") + table + protocol));
  }
}

TEST_CASE("what NVLS reaches falls by 0.06 for every doubling beyond eight GPUs, at most by half") {
  const CollectiveCosts costs = costs_of(Architecture::blackwell);
  CHECK(multicast_efficiency(costs, 2) == costs.multicast_efficiency);
  CHECK(multicast_efficiency(costs, 8) == costs.multicast_efficiency);
  CHECK(multicast_efficiency(costs, 16) == Approx(costs.multicast_efficiency * .94));
  // facts: 0.74 of the NVLinks at 8 GPUs, 0.60 at 72
  CHECK(multicast_efficiency(costs, 72) / multicast_efficiency(costs, 8) == Approx(.60 / .74).epsilon(.01));
  CHECK(multicast_efficiency(costs, 1 << 20) == Approx(costs.multicast_efficiency / 2));
}

}  // namespace cost_tables_test
