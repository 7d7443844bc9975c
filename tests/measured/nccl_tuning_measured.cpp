// NCCL's own forecast against what NCCL printed of it in public logs (docs/measured/nccl_tables.csv,
// nccl_choices.csv).
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/collective/nccl/channels_used.hpp"
#include "sim/collective/nccl/tuning.hpp"
#include "tests/measured/nccl_printed.hpp"
#include "tests/support/catch.hpp"

namespace nccl_tuning_measured {

using namespace foretrain;
using namespace foretrain::nccl;
using test::PrintedRow;

namespace {

const std::map<std::string, CollectiveOp> kOps{{"Broadcast", CollectiveOp::broadcast},
                                               {"Reduce", CollectiveOp::reduce},
                                               {"AllGather", CollectiveOp::all_gather},
                                               {"ReduceScatter", CollectiveOp::reduce_scatter},
                                               {"AllReduce", CollectiveOp::all_reduce}};
const std::map<std::string, PathClass> kPaths{{"LOC", PathClass::loc},
                                              {"NVL", PathClass::nvl},
                                              {"PIX", PathClass::pix},
                                              {"PHB", PathClass::phb},
                                              {"SYS", PathClass::sys}};

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

Protocol protocol_of(const std::string& name) {
  for (const Protocol protocol : kProtocols) {
    if (upper(std::string(foretrain::name_of(protocol))) == upper(name)) return protocol;
  }
  FAIL("unknown protocol " << name);
  return {};
}

GraphResult graph_of(const PrintedRow& row, Pattern pattern) {
  GraphResult graph;
  graph.pattern = pattern;
  graph.channels = std::stoi(row.at("n_channels"));
  graph.bw_intra = std::stod(row.at("bw_intra")), graph.bw_inter = std::stod(row.at("bw_inter"));
  graph.type_intra = kPaths.at(row.at("type_intra")), graph.type_inter = kPaths.at(row.at("type_inter"));
  graph.same_channels = row.at("same_channels") == "1";
  return graph;
}

/// The log shows one rank; the forecast takes the slowest rank's figures, here 2.4 of a 25 Gb/s port
/// (docs/sources/nccl_tuning.md 4).
void take_slowest_rank(TuningInput& input) {
  for (GraphResult* graph : {&input.ring, &input.tree}) graph->bw_intra = graph->bw_inter = 2.4;
}

struct Platform {
  int compute_capability;
  CpuVendor cpu;
};
const std::map<std::string, Platform> kPlatforms{{"a100pcie_nvlbridge_1x2", {80, CpuVendor::intel}},
                                                 {"a100pcie_nvlbridge_1x2_1ch", {80, CpuVendor::intel}},
                                                 {"a100sxm_1x3", {80, CpuVendor::amd}},
                                                 {"v100_2x2_25g", {70, CpuVendor::intel}},
                                                 {"rtx3090_4x8", {86, CpuVendor::amd}}};

/// The graphs printed for one run. 2.7's tree is its split tree, its third graph CollNet's.
TuningInput printed_input(const std::string& id) {
  TuningInput input;
  const Platform& platform = kPlatforms.at(id);
  input.job.min_compute_capability = input.job.max_compute_capability = platform.compute_capability;
  input.job.cpu = platform.cpu;
  for (const PrintedRow& row : test::printed_rows("nccl_graphs.csv")) {
    if (row.at("id") != id) continue;
    input.job.version = parse_version(row.at("nccl_version")).value();
    input.job.ranks = std::stoi(row.at("ranks")), input.job.nodes = std::stoi(row.at("nodes"));
    input.job.channels = std::stoi(row.at("coll_channels"));
    const std::string pattern = row.at("pattern");
    if (pattern == "ring") input.ring = graph_of(row, Pattern::ring);
    if (pattern == "balanced_tree") input.tree = graph_of(row, Pattern::balanced_tree);
    if (pattern == "split_tree") input.tree = graph_of(row, Pattern::split_tree);
    if (pattern == "tree") input.collnet_direct = graph_of(row, Pattern::tree);
  }
  if (id == "v100_2x2_25g") take_slowest_rank(input);
  return input;
}

/// No graph was printed for these; the slope of its large messages is one channel of 7 GB/s, an entry of
/// NCCL's list of speeds.
TuningInput rtx3090_input() {
  TuningInput input;
  input.job = {{2, 12, 12}, 32, 4, 86, 86, CpuVendor::amd, false, false, false, 2};
  input.ring.channels = input.tree.channels = 1;
  input.ring.bw_intra = input.ring.bw_inter = input.tree.bw_intra = input.tree.bw_inter = 7;
  input.ring.type_intra = input.tree.type_intra = input.ring.type_inter = input.tree.type_inter =
      PathClass::sys;
  input.tree.pattern = Pattern::balanced_tree;
  return input;
}

}  // namespace

TEST_CASE("latency and bandwidth tables are what NCCL printed, digit by digit") {
  std::map<std::string, TuningTable> tables;
  int rows = 0;
  for (const PrintedRow& row : test::printed_rows("nccl_tables.csv")) {
    const std::string& id = row.at("id");
    if (!tables.contains(id)) tables[id] = tuning_table(printed_input(id));
    const auto algorithm = find_algorithm(row.at("algo"));
    REQUIRE(algorithm);
    const Forecast& ours =
        tables[id].at(kOps.at(row.at("collective")), *algorithm, protocol_of(row.at("proto")));
    CAPTURE(id, row.at("collective"), row.at("algo"), row.at("proto"));
    CHECK(fmt::format("{:.1f}", ours.latency_us) == row.at("latency_us"));
    CHECK(fmt::format("{:.1f}", ours.algbw) == row.at("algbw_GBs"));
    ++rows;
  }
  CHECK(rows == 360);
}

TEST_CASE("algorithm, protocol and forecast are what NCCL printed at every size") {
  for (const PrintedRow& row : test::printed_rows("nccl_choices.csv")) {
    const std::string& id = row.at("id");
    const TuningInput input = id == "rtx3090_4x8" ? rtx3090_input() : printed_input(id);
    const TuningTable table = tuning_table(input);
    const CollectiveOp op = kOps.at(row.at("collective"));
    // The log counts one rank's part of an all-gather; the forecast takes all ranks' parts together.
    const std::int64_t bytes =
        std::stoll(row.at("size_bytes")) * (op == CollectiveOp::all_gather ? input.job.ranks : 1);
    const nccl::Choice choice = choose(table, op, bytes);
    CAPTURE(id, bytes);
    CHECK(choice.available);
    CHECK(upper(std::string(name_of(choice.algorithm))) == upper(row.at("algo")));
    CHECK(upper(std::string(foretrain::name_of(choice.protocol))) == upper(row.at("proto")));
    if (!row.at("predicted_us").empty())
      CHECK(fmt::format("{:.6f}", choice.predicted_us) == row.at("predicted_us"));
    if (row.at("channel_hi").empty()) continue;
    RunSetting setting{input.job.version, input.job.ranks, input.job.nodes, input.job.channels};
    setting.ring_gbps = input.ring.channels * input.ring.bw_intra;
    const RunShape run = run_shape(setting, op, choice.algorithm, choice.protocol, bytes);
    CHECK(run.channels == std::stoi(row.at("channel_hi")) - std::stoi(row.at("channel_lo")) + 1);
  }
}

}  // namespace nccl_tuning_measured
