// Laws of the hardware catalogs: every file reads, names its sources, and every cluster is one connected machine.
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

#include "sim/cluster/cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/schemas.hpp"
#include "tests/support/catch.hpp"

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
  return line.find(" = ") != std::string::npos && !line.starts_with("architecture") && !line.starts_with("compute_capability") &&
         !line.starts_with("kind");
}

/// The keys in the table of docs/reference/sources.md.
std::set<std::string> source_keys() {
  std::istringstream page(read_text_file(std::string(FORETRAIN_SOURCE_DIR) + "/docs/reference/sources.md").text);
  std::set<std::string> keys;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| ") && !line.starts_with("| key")) keys.insert(line.substr(2, line.find(' ', 2) - 2));
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
                        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) || std::isdigit(c); });
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

std::string lower_case(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// A figure of the fact sheet; 0 where it has none.
double figure(const Entry& gpu, std::string_view key) {
  const Entry* entry = std::get<Table>(gpu.value.data).find(key);
  if (entry == nullptr) return 0;
  if (const auto* whole = std::get_if<std::int64_t>(&entry->value.data)) return static_cast<double>(*whole);
  return std::get<double>(entry->value.data);
}

void check_reach(const Cluster& cluster) {
  const int gpus = cluster.spec().node.gpus;
  for (int a = 0; a < gpus; ++a) {
    CHECK_FALSE(cluster.route(cluster.cpu_of_gpu(0, a), cluster.gpu(0, a)).links.empty());
    for (int b = 0; b < gpus; ++b) {
      if (a == b) continue;
      const Route route = cluster.route(cluster.gpu(0, a), cluster.gpu(0, b));
      CHECK_FALSE(route.links.empty());
      CHECK(route.bandwidth.per_second > 0);
    }
  }
}

/// From every GPU of the first node to every GPU of the last, over every NIC.
void check_reach_between_nodes(const Cluster& cluster) {
  const NodeSpec& node = cluster.spec().node;
  for (int rail = 0; rail < node.nics; ++rail) {
    for (int i = 0; i < node.gpus * node.gpus; ++i) {
      const VertexId from = cluster.gpu(0, i / node.gpus), to = cluster.gpu(cluster.nodes() - 1, i % node.gpus);
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
    CHECK(sweep_s > 5e-3);                // an RTX 2080 Ti reads its memory in 18 ms
    CHECK((is_cpu || sweep_s < 100e-3));  // an L4 in 80 ms
    const bool has_tensor_cores = !is_cpu && gpu.compute_capability >= 7;
    CHECK((gpu.fp16 > gpu.fp32) == (has_tensor_cores || name.starts_with("p100")));
    CHECK((gpu.tf32.per_second > 0) == (gpu.compute_capability >= 8));
    CHECK((gpu.bf16.per_second > 0) == (gpu.compute_capability >= 8));
    CHECK((gpu.fp8.per_second > 0) == (gpu.compute_capability >= 8.9));
  }
}

TEST_CASE("the catalog's figures are those of the fact sheet") {
  const std::string path = std::string(FORETRAIN_SOURCE_DIR) + "/../shared/facts/hardware.toml";
  if (!std::filesystem::exists(path)) FORETRAIN_SKIP("no shared folder");
  const SourceText sheet = read_text_file(path);
  Diagnostics diagnostics(sheet);
  const Table table = parse_toml(sheet, diagnostics);
  REQUIRE(diagnostics.empty());
  for (const Entry& entry : std::get<Table>(table.find("gpu")->value.data).entries) {
    INFO(entry.key);
    const Gpu gpu = part_of(CatalogKind::gpus, lower_case(entry.key), read_gpu);
    CHECK(gpu.fp64.per_second == Approx(figure(entry, "fp64_tflops") * 1e12));
    CHECK(gpu.fp32.per_second == Approx(figure(entry, "fp32_tflops") * 1e12));
    CHECK(gpu.tf32.per_second == Approx(figure(entry, "tf32_tensor_tflops") * 1e12));
    CHECK(gpu.fp16.per_second == Approx((figure(entry, "fp16_tensor_tflops") + figure(entry, "fp16_nontensor_tflops")) * 1e12));
    CHECK(gpu.bf16.per_second == Approx(figure(entry, "bf16_tensor_tflops") * 1e12));
    CHECK(gpu.fp8.per_second == Approx(figure(entry, "fp8_tensor_tflops") * 1e12));
    CHECK(gpu.memory_bandwidth.per_second == Approx(figure(entry, "memory_bw_gbs") * 1e9));
    CHECK(static_cast<double>(gpu.memory.count) == Approx(figure(entry, "memory_gb") * 1e9));
    CHECK(static_cast<double>(gpu.l2_cache.count) == Approx(figure(entry, "l2_mb") * 1e6));
    CHECK(gpu.sm_count == figure(entry, "sm_count"));
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
    check_reach(cluster);
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
    if (spec.nodes > 1 && name != "coreweave-gb200") CHECK(spec.fabric.link.nccl_bandwidth >= spec.fabric.link.bandwidth);
  }
}

TEST_CASE("every cluster that measurements name is in the catalog") {
  const std::string folder = std::string(FORETRAIN_SOURCE_DIR) + "/../shared/measured/";
  if (!std::filesystem::exists(folder)) FORETRAIN_SKIP("no shared folder");
  const std::vector<std::string> names = names_in(CatalogKind::clusters);
  for (const auto& [file, column] : {std::pair{"nccl_open.csv", 1}, {"scaling_open.csv", 2}, {"slower_open.csv", 2}}) {
    std::istringstream lines(read_text_file(folder + file, std::size_t{16} << 20).text);
    std::set<std::string> wanted;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("#") || line.starts_with("series,") || line.starts_with("\"")) continue;
      std::istringstream fields(line);
      std::string field;
      for (int i = 0; i <= column; ++i) std::getline(fields, field, ',');
      if (field.find(' ') == std::string::npos) wanted.insert(field);
    }
    for (const std::string& cluster : wanted) {
      INFO(file << ": " << cluster);
      CHECK(std::find(names.begin(), names.end(), cluster) != names.end());
    }
  }
}

TEST_CASE("every cluster that the fact sheet describes has the GPUs and nodes that were measured") {
  const std::string path = std::string(FORETRAIN_SOURCE_DIR) + "/../shared/facts/MEASURED_CLUSTERS.md";
  if (!std::filesystem::exists(path)) FORETRAIN_SKIP("no shared folder");
  std::istringstream lines(read_text_file(path).text);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    if (cells.size() != 8 || cells[1] == " cluster " || cells[1].starts_with("---")) continue;
    const std::string name = cells[1].substr(1, cells[1].size() - 2);
    INFO(line);
    const ClusterSpec spec = part_of(CatalogKind::clusters, name, read_cluster);
    CHECK(spec.node.gpus >= std::stoi(cells[3].substr(cells[3].rfind(',') == std::string::npos ? 0 : cells[3].rfind(',') + 1)));
    CHECK(spec.nodes >= std::stoi(cells[7].substr(cells[7].rfind(',') == std::string::npos ? 0 : cells[7].rfind(',') + 1)));
    ++rows;
  }
  CHECK(rows >= 50);
}

}  // namespace catalog_laws
