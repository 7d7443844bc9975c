// Files for other simulators, read back by readers as simple as can be: every send has its receive, bytes and
// durations are those of the plan, nothing waits in a circle.
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "sim/analysis/predict.hpp"
#include "sim/report/simulators/chakra.hpp"
#include "sim/report/simulators/goal.hpp"
#include "tests/support/catch.hpp"

namespace simulators_test {

using namespace foretrain;

namespace {

struct Exported {
  Scenario scenario;
  RecordedSteps recorded;
  ExportedSteps steps;
};

Exported exported(const std::string& strategy, int gpus, std::vector<std::string> settings = {}) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = "mnist_net", overrides.cluster = "puhti", overrides.strategy = strategy;
  overrides.gpus = {gpus}, overrides.settings = std::move(settings);
  Exported out{make_scenario(overrides), {}, {}};
  out.recorded = std::move(record_steps(out.scenario, {}).front().steps);
  out.steps = exported_steps(out.recorded, out.scenario);
  return out;
}

// GOAL, naively.

struct GoalOperation {
  std::string what;
  std::int64_t amount = 0;
  int peer = -1;
  std::uint64_t tag = 0;
  std::vector<std::string> after;
};
using GoalRank = std::map<std::string, GoalOperation>;

std::vector<GoalRank> read_goal(const std::string& text) {
  std::vector<GoalRank> ranks;
  std::istringstream lines(text);
  std::string line;
  static const std::regex calc("(l\\d+): calc (\\d+) cpu \\d+"),
      message("(l\\d+): (send|recv) (\\d+)b (?:to|from) (\\d+) tag (\\d+) cpu \\d+"),
      needs("(l\\d+) requires (l\\d+)");
  std::smatch part;
  while (std::getline(lines, line)) {
    if (line.starts_with("rank "))
      ranks.emplace_back();
    else if (std::regex_match(line, part, calc))
      ranks.back()[part[1]] = {"calc", std::stoll(part[2]), -1, 0, {}};
    else if (std::regex_match(line, part, message))
      ranks.back()[part[1]] = {part[2], std::stoll(part[3]), std::stoi(part[4]), std::stoull(part[5]), {}};
    else if (std::regex_match(line, part, needs))
      ranks.back().at(part[1]).after.push_back(part[2]);
    else
      CHECK((line.empty() || line == "}" || line.starts_with("//") || line.starts_with("num_ranks ")));
  }
  return ranks;
}

/// Runs everything that can: how many operations of all ranks never come to their turn.
std::size_t never_run(const std::vector<GoalRank>& ranks) {
  std::set<std::pair<std::size_t, std::string>> done;
  std::map<std::tuple<std::size_t, int, std::uint64_t>, int> sent;
  std::size_t all = 0;
  for (const GoalRank& rank : ranks) all += rank.size();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const auto& [label, operation] : ranks[r]) {
        if (done.contains({r, label})) continue;
        const bool ready =
            std::all_of(operation.after.begin(), operation.after.end(), [&](const std::string& before) {
              return done.contains({r, before});
            });
        if (!ready) continue;
        if (operation.what == "recv" &&
            sent[{static_cast<std::size_t>(operation.peer), static_cast<int>(r), operation.tag}]-- <= 0) {
          ++sent[{static_cast<std::size_t>(operation.peer), static_cast<int>(r), operation.tag}];
          continue;
        }
        if (operation.what == "send") ++sent[{r, operation.peer, operation.tag}];
        done.insert({r, label}), moved = true;
      }
    }
  }
  return all - done.size();
}

// Chakra, naively.

struct ProtoField {
  std::uint64_t field = 0, number = 0;
  std::string bytes;
};

std::uint64_t read_varint(const std::string& text, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    REQUIRE(at < text.size());
    const auto byte = static_cast<unsigned char>(text[at++]);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  FAIL("a varint of more than 64 bits");
  return 0;
}

std::vector<ProtoField> fields_of(const std::string& text) {
  std::vector<ProtoField> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint64_t key = read_varint(text, at);
    ProtoField field{key >> 3, 0, ""};
    if ((key & 7) == 0) {
      field.number = read_varint(text, at);
    } else {
      REQUIRE((key & 7) == 2);
      const std::size_t length = read_varint(text, at);
      REQUIRE(at + length <= text.size());
      field.bytes = text.substr(at, length);
      at += length;
    }
    out.push_back(field);
  }
  return out;
}

struct ChakraNode {
  std::uint64_t id = 0, type = 0, duration = 0;
  std::string name;
  std::vector<std::uint64_t> after;
  std::map<std::string, std::uint64_t> numbers;
  std::map<std::string, std::string> texts;
};

ChakraNode node_of(const std::string& text) {
  ChakraNode node;
  for (const ProtoField& field : fields_of(text)) {
    if (field.field == 1) node.id = field.number;
    if (field.field == 2) node.name = field.bytes;
    if (field.field == 3) node.type = field.number;
    if (field.field == 7) node.duration = field.number;
    for (std::size_t at = 0; field.field == 5 && at < field.bytes.size();)
      node.after.push_back(read_varint(field.bytes, at));
    if (field.field != 10) continue;
    const std::vector<ProtoField> parts = fields_of(field.bytes);
    REQUIRE(parts.size() == 2);
    if (parts[1].field == 29)
      node.texts[parts[0].bytes] = parts[1].bytes;
    else
      node.numbers[parts[0].bytes] = parts[1].number;
  }
  return node;
}

std::vector<ChakraNode> read_chakra(const std::string& text) {
  std::vector<ChakraNode> nodes;
  bool first = true;
  for (std::size_t at = 0; at < text.size(); first = false) {
    const std::size_t length = read_varint(text, at);
    REQUIRE(at + length <= text.size());
    if (first)
      CHECK(fields_of(text.substr(at, length)).front().bytes == "0.0.4");
    else
      nodes.push_back(node_of(text.substr(at, length)));
    at += length;
  }
  return nodes;
}

std::int64_t gradient_bytes(const Exported& job) {
  std::int64_t all = 0;
  for (const Bytes bucket : job.recorded.plan.buckets) all += bucket.count;
  return all;
}

}  // namespace

TEST_CASE("GOAL: every send has its receive, and nothing waits in a circle") {
  for (const char* strategy : {"ddp", "zero3", "fsdp", "horovod"}) {
    const std::vector<GoalRank> ranks = read_goal(write_goal(exported(strategy, 8).steps));
    REQUIRE(ranks.size() == 8);
    CHECK(never_run(ranks) == 0);
    std::map<std::tuple<int, int, std::uint64_t>, std::int64_t> balance;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const auto& [label, operation] : ranks[r]) {
        const int own = static_cast<int>(r);
        if (operation.what == "send") balance[{own, operation.peer, operation.tag}] += operation.amount;
        if (operation.what == "recv") balance[{operation.peer, own, operation.tag}] -= operation.amount;
      }
    }
    CHECK(std::all_of(balance.begin(), balance.end(), [](const auto& row) { return row.second == 0; }));
  }
}

TEST_CASE("GOAL: a ring sends 2 (n - 1) / n of the gradients per step") {
  const Exported job = exported("ddp", 4, {"nccl.algorithm=\"ring\"", "strategy.broadcast_buffers=false"});
  const std::vector<GoalRank> ranks = read_goal(write_goal(job.steps));
  std::int64_t sent = 0;
  for (const auto& [label, operation] : ranks[1]) sent += operation.what == "send" ? operation.amount : 0;
  const double expected = 1.5 * static_cast<double>(gradient_bytes(job)) * job.steps.steps;
  CHECK(static_cast<double>(sent) == Approx(expected).epsilon(1e-3));
}

TEST_CASE("GOAL: durations of a rank are those of the plan, to a nanosecond a queue") {
  const Exported job = exported("ddp", 2);
  const std::vector<GoalRank> ranks = read_goal(write_goal(job.steps));
  std::int64_t written = 0, planned = 0;
  for (const auto& [label, operation] : ranks[0]) written += operation.what == "calc" ? operation.amount : 0;
  for (const ExportedNode& node : job.steps.nodes) {
    if (!node.message) planned += node.duration.count() / 1000;
    for (const ExportedDependency& before : node.after) planned += before.lag.count() / 1000;
  }
  CHECK(written >= planned);
  CHECK(written - planned < static_cast<std::int64_t>(job.steps.nodes.size()));
  CHECK(ranks[0].size() > 100);
}

TEST_CASE("Chakra: nodes in order, collectives with their sizes, durations of the plan") {
  const Exported job = exported("ddp", 8, {"strategy.broadcast_buffers=false"});
  const std::vector<ChakraNode> nodes = read_chakra(write_chakra(job.steps, 3));
  REQUIRE(nodes.size() == job.steps.nodes.size());
  std::int64_t reduced = 0;
  std::uint64_t micros = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CHECK(nodes[i].id == i + 1);
    for (const std::uint64_t before : nodes[i].after) CHECK((before >= 1 && before <= i));
    CHECK((nodes[i].type == 7) == job.steps.nodes[i].message.has_value());
    CHECK(nodes[i].numbers.contains("is_cpu_op"));
    if (nodes[i].type == 7) reduced += static_cast<std::int64_t>(nodes[i].numbers.at("comm_size"));
    micros += nodes[i].duration;
  }
  CHECK(reduced == gradient_bytes(job) * job.steps.steps);
  double planned = 0;
  for (const ExportedNode& node : job.steps.nodes)
    planned += static_cast<double>(node.duration.count()) / 1e6;
  CHECK(static_cast<double>(micros) == Approx(planned).margin(static_cast<double>(job.steps.queues.size())));
}

TEST_CASE("Chakra: what a rank puts into a gather, and groups of a node by name") {
  const Exported sharded = exported("fsdp", 4);
  for (std::size_t i = 0; const ChakraNode& node : read_chakra(write_chakra(sharded.steps, 0))) {
    const auto& message = sharded.steps.nodes[i++].message;
    if (!message || message->op != CollectiveOp::all_gather) continue;
    CHECK(node.numbers.at("comm_type") == 2);
    CHECK(static_cast<std::int64_t>(node.numbers.at("comm_size")) == message->size.count / 4);
  }
  const Exported grouped = exported("fsdp", 8, {"strategy.sharding=\"hybrid_shard\""});
  const auto groups = nlohmann::json::parse(write_chakra_groups(grouped.steps));
  CHECK(groups.size() == 6);  // two nodes, four places in a node
  bool named = false;
  for (const ChakraNode& node : read_chakra(write_chakra(grouped.steps, 5))) {
    const auto name = node.texts.find("pg_name");
    if (name == node.texts.end()) continue;
    named = true;
    const auto ranks = groups.at(name->second).get<std::vector<int>>();
    CHECK(std::find(ranks.begin(), ranks.end(), 5) != ranks.end());
  }
  CHECK(named);
}

TEST_CASE("what is not exported is refused") {
  CHECK_THROWS_WITH(exported("data_parallel", 4), Catch::Contains("several GPUs from one process"));
  Exported job = exported("ddp", 2);
  job.steps.node_of_rank.assign(100'000, 0);
  CHECK_THROWS_WITH(write_goal(job.steps), Catch::Contains("operations"));
}

}  // namespace simulators_test
