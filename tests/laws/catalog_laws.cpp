// Laws of the hardware catalogs: every file reads, names its sources, and every cluster is one connected
// machine.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"

namespace catalog_laws {

using namespace foretrain;

namespace {

SourceText text_of(CatalogKind kind, const std::string& name) {
  const auto source = open_named(kind, name);
  REQUIRE(source);
  return *source;
}

/// Reads an entry and requires that nothing was wrong with it.
template <class Part>
Part part_of(CatalogKind kind, const std::string& name, Part (*read)(const SourceText&, Diagnostics&)) {
  const SourceText source = text_of(kind, name);
  Diagnostics diagnostics(source);
  Part part = read(source, diagnostics);
  INFO(format(diagnostics.found()));
  REQUIRE(diagnostics.empty());
  return part;
}

/// The comment of a line, without '#'; empty when it has none.
std::string comment_of(const std::string& line) {
  const std::size_t at = line.find('#');
  return at == std::string::npos ? "" : line.substr(at + 1);
}

bool is_figure(const std::string& line) {
  return line.find(" = ") != std::string::npos && !line.starts_with("architecture") &&
         !line.starts_with("compute_capability") && !line.starts_with("kind");
}

/// The keys in the table of docs/reference/sources.md.
std::set<std::string> source_keys() {
  std::istringstream page(
      read_text_file(std::string(FORETRAIN_SOURCE_DIR) + "/docs/reference/sources.md").text);
  std::set<std::string> keys;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| ") && !line.starts_with("| key"))
      keys.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  return keys;
}

/// The words before the first ':' or ';' of a comment that are written as source keys: capitals and digits.
std::vector<std::string> keys_in(const std::string& comment) {
  std::vector<std::string> keys;
  std::istringstream words(comment.substr(0, comment.find_first_of(":;")));
  for (std::string word; words >> word;) {
    while (!word.empty() && word.back() == ',') word.pop_back();
    const bool is_key = word.size() > 1 && std::isupper(static_cast<unsigned char>(word[0])) &&
                        std::all_of(word.begin(), word.end(),
                                    [](unsigned char c) { return std::isupper(c) || std::isdigit(c); });
    if (is_key) keys.push_back(word);
  }
  return keys;
}

/// Every figure of an entry says where it comes from, by known keys or as assumed.
void check_sources(CatalogKind kind, const std::string& name, const std::set<std::string>& known) {
  const SourceText source = text_of(kind, name);
  std::istringstream lines(source.text);
  for (std::string line; std::getline(lines, line);) {
    if (!is_figure(line)) continue;
    INFO(name << ": " << line);
    const std::string comment = comment_of(line);
    CHECK_FALSE(comment.empty());
    for (const std::string& key : keys_in(comment)) CHECK(known.count(key) == 1);
  }
}

/// Records of a file of docs/measured by column name; a field that is not there is empty.
std::vector<std::map<std::string, std::string>> measured_records(const std::string& file) {
  const SourceText source = read_text_file((test::kMeasured / file).string(), kLargestMeasurements);
  CsvLines lines(source.text);
  const auto names = lines.next();
  REQUIRE(names);
  std::vector<std::map<std::string, std::string>> records;
  while (const auto fields = lines.next()) {
    auto& record = records.emplace_back();
    for (std::size_t i = 0; i < std::min(names->size(), fields->size()); ++i)
      record[(*names)[i].text] = (*fields)[i].text;
  }
  return records;
}

/// A figure; 0 where the record has none.
double figure(const std::map<std::string, std::string>& record, const std::string& key) {
  const std::string& text = record.at(key);
  return text.empty() ? 0 : std::stod(text);
}

void check_reach(const Cluster& cluster, int node) {
  const int gpus = cluster.node_spec(node).gpus;
  for (int a = 0; a < gpus; ++a) {
    CHECK_FALSE(cluster.route(cluster.cpu_of_gpu(node, a), cluster.gpu(node, a)).links.empty());
    for (int b = 0; b < gpus; ++b) {
      if (a == b) continue;
      const Route route = cluster.route(cluster.gpu(node, a), cluster.gpu(node, b));
      CHECK_FALSE(route.links.empty());
      CHECK(route.bandwidth.per_second > 0);
    }
  }
}

/// From every GPU of the first node to every GPU of the last, over every NIC.
void check_reach_between_nodes(const Cluster& cluster) {
  const int last = cluster.nodes() - 1;
  const NodeSpec &node = cluster.node_spec(0), &other = cluster.node_spec(last);
  for (int rail = 0; rail < std::min(node.nics, other.nics); ++rail) {
    for (int i = 0; i < node.gpus * other.gpus; ++i) {
      const VertexId from = cluster.gpu(0, i / other.gpus), to = cluster.gpu(last, i % other.gpus);
      const Route route = cluster.route_between_nodes(from, to, rail);
      CHECK(route.crosses_network);
      CHECK(route.bandwidth.per_second > 0);
      CHECK(route.bandwidth <= cluster.spec().fabric.link.bandwidth);
    }
  }
}

}  // namespace

TEST_CASE("every GPU of the catalog reads and is plausible") {
  const std::vector<std::string> names = names_in(CatalogKind::gpus);
  REQUIRE(names.size() >= 29);
  for (const std::string& name : names) {
    INFO(name);
    const Gpu gpu = part_of(CatalogKind::gpus, name, read_gpu);
    CHECK(gpu.name == name);
    CHECK(gpu.fp32.per_second > 0);
    CHECK(gpu.fp64.per_second > 0);
    CHECK(gpu.fp64 <= gpu.fp32);
    const double sweep_s = static_cast<double>(gpu.memory.count) / gpu.memory_bandwidth.per_second;
    const bool is_cpu = gpu.architecture == Architecture::cpu;
    CHECK(sweep_s > 5e-3);             // an RTX 2080 Ti reads its memory in 18 ms
    CHECK((is_cpu || sweep_s < 0.5));  // an L4 in 80 ms, a GB10 its LPDDR in 470 ms
    const bool has_tensor_cores = !is_cpu && gpu.compute_capability >= 7;
    CHECK((gpu.fp16 > gpu.fp32) == (has_tensor_cores || name.starts_with("p100")));
    CHECK((gpu.bf16.per_second > 0) == (gpu.compute_capability >= 8));
    // AMD's have both since the MI300; ROCm's number of its MI100 and MI200 is 9.0.
    const bool is_early_amd = is_amd(gpu.architecture) && gpu.architecture < Architecture::cdna3;
    CHECK((gpu.tf32.per_second > 0) == (gpu.compute_capability >= 8 && !is_early_amd));
    CHECK((gpu.fp8.per_second > 0) == (gpu.compute_capability >= 8.9 && !is_early_amd));
  }
}

TEST_CASE("the catalog's figures are those that were published") {
  for (const auto& published : measured_records("gpus.csv")) {
    INFO(published.at("gpu"));
    const Gpu gpu = part_of(CatalogKind::gpus, published.at("gpu"), read_gpu);
    CHECK(gpu.fp64.per_second == Approx(figure(published, "fp64_tflops") * 1e12));
    CHECK(gpu.fp32.per_second == Approx(figure(published, "fp32_tflops") * 1e12));
    CHECK(gpu.tf32.per_second == Approx(figure(published, "tf32_tensor_tflops") * 1e12));
    CHECK(gpu.fp16.per_second ==
          Approx((figure(published, "fp16_tensor_tflops") + figure(published, "fp16_nontensor_tflops")) *
                 1e12));
    CHECK(gpu.bf16.per_second == Approx(figure(published, "bf16_tensor_tflops") * 1e12));
    CHECK(gpu.fp8.per_second == Approx(figure(published, "fp8_tensor_tflops") * 1e12));
    CHECK(gpu.memory_bandwidth.per_second == Approx(figure(published, "memory_bw_gbs") * 1e9));
    CHECK(static_cast<double>(gpu.memory.count) == Approx(figure(published, "memory_gb") * 1e9));
    CHECK(static_cast<double>(gpu.l2_cache.count) == Approx(figure(published, "l2_mb") * 1e6));
    CHECK(gpu.sm_count == figure(published, "sm_count"));
  }
}

TEST_CASE("every link of the catalog reads and is slower in collectives than in plain copies") {
  const std::vector<std::string> names = names_in(CatalogKind::links);
  REQUIRE(names.size() >= 28);
  for (const std::string& name : names) {
    INFO(name);
    const LinkType link = part_of(CatalogKind::links, name, read_link_type);
    CHECK(link.name == name);
    CHECK(link.bandwidth.per_second > 0);
    CHECK(link.collective_efficiency > 0.4);
    CHECK(link.collective_efficiency <= 1);
    CHECK(link.latency > Time::zero());
  }
}

TEST_CASE("every figure of a GPU or link names its source") {
  const std::set<std::string> known = source_keys();
  REQUIRE(known.count("IGU") == 1);
  for (const CatalogKind kind : {CatalogKind::gpus, CatalogKind::links}) {
    for (const std::string& name : names_in(kind)) check_sources(kind, name, known);
  }
}

TEST_CASE("every cluster of the catalog reads and says what it is") {
  const std::vector<std::string> names = names_in(CatalogKind::clusters);
  REQUIRE(names.size() >= 9);
  for (const std::string& name : names) {
    INFO(name);
    const ClusterSpec spec = part_of(CatalogKind::clusters, name, read_cluster);
    CHECK(spec.name == name);
    CHECK_FALSE(spec.description.empty());
    CHECK(text_of(CatalogKind::clusters, name).text.starts_with("# "));
  }
}

TEST_CASE("in every cluster every GPU reaches every other") {
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    INFO(name);
    const ClusterSpec spec = part_of(CatalogKind::clusters, name, read_cluster);
    const Cluster cluster = Cluster::build(spec, std::min(spec.nodes, 256));
    CHECK(cluster.capacities().size() == cluster.links().size());
    for (const int node : {0, cluster.nodes() - 1}) check_reach(cluster, node);
    if (cluster.nodes() > 1) check_reach_between_nodes(cluster);
  }
}

TEST_CASE("every node template of the catalog reads and says what it is") {
  const std::vector<std::string> names = names_in(CatalogKind::nodes);
  REQUIRE(names.size() >= 15);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(part_of(CatalogKind::nodes, name, read_node_template).gpus > 0);
    CHECK(text_of(CatalogKind::nodes, name).text.starts_with("# "));
  }
}

TEST_CASE("every cluster names the family of its CPU and books its network's port rate") {
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    INFO(name);
    const ClusterSpec spec = part_of(CatalogKind::clusters, name, read_cluster);
    const std::string text = text_of(CatalogKind::clusters, name).text;
    CHECK((text.find("family = ") != std::string::npos || text.find("template = ") != std::string::npos ||
           text.find("node = \"") != std::string::npos));
    if (spec.nodes > 1 && spec.fabric.nvlink_domain <= 1)
      CHECK(spec.fabric.link.nccl_bandwidth >= spec.fabric.link.bandwidth);
  }
}

TEST_CASE("every cluster that measurements name is in the catalog") {
  const std::vector<std::string> names = names_in(CatalogKind::clusters);
  for (const char* file :
       {"nccl.csv", "nccl_2.csv", "rccl.csv", "scaling.csv", "csc_puhti.csv", "csc_lumi.csv", "slower.csv"}) {
    std::set<std::string> wanted;
    for (const auto& row : measured_records(file)) wanted.insert(row.at("cluster"));
    for (const std::string& cluster : wanted) {
      if (cluster.find(' ') != std::string::npos) continue;  // words that describe a machine nobody named
      INFO(file << ": " << cluster);
      CHECK(std::find(names.begin(), names.end(), cluster) != names.end());
    }
  }
}

TEST_CASE("every cluster has the GPUs and nodes that were measured") {
  const auto records = measured_records("clusters.csv");
  CHECK(records.size() >= 37);
  for (const auto& measured : records) {
    INFO(measured.at("cluster"));
    const ClusterSpec spec = part_of(CatalogKind::clusters, measured.at("cluster"), read_cluster);
    CHECK(spec.node.gpus >= std::stoi(measured.at("gpus_per_node")));
    CHECK(spec.nodes >= std::stoi(measured.at("nodes")));
  }
}

TEST_CASE("every file of measured figures is in the list that says where its rows come from") {
  const std::string list = read_text_file((test::kMeasured / "README.md").string()).text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::kMeasured)) {
    if (!entry.is_regular_file() || entry.path().filename() == "README.md") continue;
    std::string name = std::filesystem::relative(entry.path(), test::kMeasured).string();
    if (name.starts_with("networks/") && list.find(name) == std::string::npos) name = "networks/NAME.json";
    if (name.starts_with("h100/networks/")) name = "networks.tar.gz";
    if (name == "h100/networks.tar.gz" || name == "h100/steps.jsonl" || name == "h100/about.json")
      name = name.substr(5);
    if (name.starts_with("pytorch/ddp_buckets")) name = "pytorch/ddp_buckets*.json";
    INFO(name);
    CHECK(list.find("`" + name + "`") != std::string::npos);
  }
}

TEST_CASE("every measured row names its source") {
  for (const char* file : {"nccl.csv", "nccl_2.csv", "rccl.csv", "nccl_graphs.csv", "scaling.csv",
                           "csc_puhti.csv", "csc_lumi.csv", "puhti.csv", "slower.csv", "input.csv"}) {
    INFO(file);
    const auto records = measured_records(file);
    CHECK(std::ranges::none_of(records, [](const auto& row) { return row.at("source").empty(); }));
  }
}

}  // namespace catalog_laws
