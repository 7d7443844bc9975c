// More GPUs, less throughput: MirroredStrategy on MASSIVE M3 against the published chart
// (docs/measured/slower.csv).
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/strategy/replicas/replica_options.hpp"
#include "sim/strategy/replicas/sums_over_replicas.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"

namespace slower_mirrored {

using namespace foretrain;

namespace {

Scenario scenario_named(const std::string& name) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  return read_scenario(read_text_file(FORETRAIN_SOURCE_DIR "/scenarios/" + name + ".toml"), {});
}

SimulatedStep step_on(const Scenario& scenario, int gpus) {
  const StepSimulator simulator(scenario, gpus);
  return simulator.simulate(gpus, simulator.batch_per_gpu(gpus), default_device_model(scenario));
}

/// The global batch is the same, so throughput is one over the step.
double throughput_ratio(const Scenario& scenario, int gpus) {
  return step_on(scenario, 1).step_s / step_on(scenario, gpus).step_s;
}

struct Row {
  std::string cluster;
  int gpus = 1;
  double ratio = 1;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) all.push_back(cell);
  return all;
}

/// series,model,cluster,strategy,global_batch,gpus,throughput_ratio,source
std::vector<Row> mirrored_rows() {
  std::vector<Row> rows;
  std::ifstream file(test::kMeasured / "slower.csv");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> row = cells(line);
    if (row.size() > 6 && row[3] == "mirrored")
      rows.push_back({row[2], std::stoi(row[5]), std::stod(row[6])});
  }
  return rows;
}

double part(const SimulatedStep& step, Account account) {
  return step.breakdown[static_cast<std::size_t>(account)];
}

}  // namespace

TEST_CASE("every mirrored row of the chart comes out on its side of one, within 30 percent") {
  const std::vector<Row> rows = mirrored_rows();
  REQUIRE(rows.size() == 5);
  for (const Row& row : rows) {
    const double ours =
        throughput_ratio(scenario_named("m3-resnet56-mirrored-" + row.cluster.substr(3)), row.gpus);
    INFO(row.gpus << " GPUs of " << row.cluster << ": published " << row.ratio << ", ours " << ours);
    CHECK((ours < 1) == (row.ratio < 1));
    CHECK(std::abs(ours / row.ratio - 1) < 0.30);
  }
}

// Milliseconds read off the chart (562, 739, 658; 1379, 963; 1674, 1155, 859 images/s at a global batch of
// 128). None was used for a constant of the strategy; docs/models/replicated.md says which structure was read
// off them.
TEST_CASE("the steps themselves are those of the chart within 20 percent") {
  struct Published {
    const char* cluster;
    std::vector<double> images_per_s;
  };
  for (const Published& row :
       {Published{"k80", {562, 739, 658}}, {"p100", {1379, 963}}, {"v100", {1674, 1155, 859}}}) {
    const Scenario scenario = scenario_named(std::string("m3-resnet56-mirrored-") + row.cluster);
    for (std::size_t i = 0; i < row.images_per_s.size(); ++i) {
      const double published = 128 / row.images_per_s[i],
                   ours = step_on(scenario, static_cast<int>(i + 1)).step_s;
      INFO(row.cluster << " on " << i + 1 << ": published " << 1e3 * published << " ms, ours " << 1e3 * ours
                       << " ms");
      CHECK(std::abs(ours / published - 1) < 0.20);
    }
  }
}

TEST_CASE("what makes M3's second GPU slower is the host, not the 3.4 MB that are sent") {
  const Scenario scenario = scenario_named("m3-resnet56-mirrored-v100");
  const SimulatedStep one = step_on(scenario, 1), two = step_on(scenario, 2);
  CHECK(part(two, Account::host) - part(one, Account::host) > 0.9 * (two.step_s - one.step_s));
  CHECK(part(two, Account::exposed_communication) < 0.02 * two.step_s);
  CHECK(two.buckets == std::vector<Bytes>{{4 * 856'058}});
}

TEST_CASE("with threads of its own for each GPU M3's V100 would have lost less") {
  Scenario scenario = scenario_named("m3-resnet56-mirrored-v100");
  const double global = throughput_ratio(scenario, 3);
  scenario.knobs.edit<ReplicaOptions>().private_threads = true;
  CHECK(throughput_ratio(scenario, 3) > global);
}

TEST_CASE("the ring that strategies simulate is the transport of the catalog") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  Diagnostics problems(read_text_file(FORETRAIN_SOURCE_DIR "/topologies/transports/grpc.toml"));
  CHECK(read_transport(read_text_file(FORETRAIN_SOURCE_DIR "/topologies/transports/grpc.toml"), problems) ==
        grpc_transport());
}

}  // namespace slower_mirrored
