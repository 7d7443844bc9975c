// Tests of cluster files with several kinds of node of which a job gets one: the keys, the parts of a site by
// name, and mistakes at their places.
#include "sim/cluster/site_kinds.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/site_names.hpp"
#include "tests/support/catch.hpp"

namespace site_kinds_test {

using namespace foretrain;

namespace {

// Line numbers of the tests below count in this text.
const std::string kSite = R"(description = "old and new"
node_kind = "v100"
nodes = 10
node = "dgx1-v100"
[fabric]
kind = "star"
link = "ib_edr"
[site]
batch_system = "slurm"
gpu_type = "v100"
partitions = [{ name = "old", kinds = ["v100"], default = true },
              { name = "new", kinds = ["a100"], most_nodes = 4 },
              { name = "both" }]
[[more_nodes]]
name = "a100"
nodes = 20
node = "dgx-a100"
gpu_type = "a100"
constraints = ["nvswitch"]
[more_nodes.fabric]
kind = "star"
link = "ib_hdr"
)";

std::string errors_of(const std::string& text) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  try {
    read_or_throw(SourceText{"lab.toml", text}, read_cluster);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// A file in a folder of its own, gone with it.
class SiteFile {
 public:
  SiteFile() : folder_(std::filesystem::temp_directory_path() / ("site_kinds_" + std::to_string(getpid()))) {
    setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << kSite;
  }
  ~SiteFile() { std::filesystem::remove_all(folder_); }
  SiteFile(const SiteFile&) = delete;
  SiteFile& operator=(const SiteFile&) = delete;
  std::string path() const { return (folder_ / "lab.toml").string(); }

 private:
  std::filesystem::path folder_;
};

std::string refusal_of(const std::string& name) {
  try {
    open_cluster(name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each kind of a site is a cluster with its own nodes, network and way there") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const ClusterSpec site = read_or_throw(SourceText{"lab.toml", kSite}, read_cluster);
  REQUIRE(is_site(site));
  const std::vector<ClusterSpec> kinds = clusters_of_site(site);
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].name == "lab/v100");
  CHECK(kinds[0].nodes == 10);
  CHECK(kinds[0].fabric.link.name == "ib_edr");
  CHECK(kinds[0].site.gpu_type == "v100");
  CHECK(kinds[0].site.partitions.size() == 2);
  CHECK(kinds[1].name == "lab/a100");
  CHECK(kinds[1].nodes == 20);
  CHECK(kinds[1].node.gpu.name == "a100-sxm4-40gb");
  CHECK(kinds[1].fabric.link.name == "ib_hdr");
  CHECK(kinds[1].site.gpu_type == "a100");
  CHECK(kinds[1].site.constraints == std::vector<std::string>{"nvswitch"});
  CHECK(has_partition(kinds[1], "both"));
  CHECK_FALSE(has_partition(kinds[1], "old"));
  for (const ClusterSpec& kind : kinds) CHECK_FALSE(is_site(kind));
}

TEST_CASE("kinds without partitions, types or networks of their own stay one machine") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const ClusterSpec mixed = read_or_throw(
      SourceText{"mixed.toml",
                 "nodes = 2\nnode = \"dgx1-v100\"\n[fabric]\nkind = \"star\"\nlink = \"ib_edr\"\n"
                 "[[more_nodes]]\nname = \"a100\"\nnodes = 2\nnode = \"dgx-a100\"\n"},
      read_cluster);
  CHECK_FALSE(is_site(mixed));
  CHECK(clusters_of_site(mixed).size() == 1);
}

TEST_CASE("mistakes of a site stand where they are") {
  CHECK(errors_of(kSite).empty());
  const std::string unknown = errors_of(replaced(kSite, "kinds = [\"a100\"]", "kinds = [\"h100\"]"));
  CHECK(unknown.find("lab.toml:12:15: error: partition new has nodes of kind \"h100\"") != std::string::npos);
  const std::string twice = errors_of(replaced(kSite, "name = \"a100\"", "name = \"v100\""));
  CHECK(twice.find("two kinds of node are called \"v100\"") != std::string::npos);
  const std::string slash = errors_of(replaced(kSite, "node_kind = \"v100\"", "node_kind = \"a/b\""));
  CHECK(slash.find("partition old has nodes of kind \"v100\"") != std::string::npos);
  CHECK(slash.find("lab.toml:2:") != std::string::npos);
  const std::string network = errors_of(replaced(kSite, "link = \"ib_hdr\"", "link = \"nvlink3\""));
  CHECK(network.find("more_nodes.fabric.link must be a network link") != std::string::npos);
}

TEST_CASE("a part of a site is named by its partition, kind, type or feature") {
  const SiteFile file;
  CHECK(open_cluster(file.path() + "/a100").name == "lab/a100");
  CHECK(open_cluster(file.path() + "/new").name == "lab/a100");
  CHECK(open_cluster(file.path() + "/nvswitch").name == "lab/a100");
  CHECK(open_cluster(file.path() + "/old").node.gpu.name == "v100-sxm2-16gb");
  CHECK(open_cluster(file.path() + "/new").site.partitions.size() == 1);
  CHECK(open_site(file.path()).more_nodes.size() == 1);
  CHECK(open_parts(file.path()).size() == 2);
  CHECK(open_cluster("puhti/gputest").name == "puhti");
  CHECK(open_cluster("puhti/gputest").site.partitions.size() == 1);
}

TEST_CASE("a name that leads to several kinds, or to none, is refused with what is there") {
  const SiteFile file;
  const std::string several = refusal_of(file.path());
  CHECK(several.find("2 kinds of nodes, and a job gets one: v100: 10 nodes with 8x v100-sxm2-16gb; a100: 20 "
                     "nodes with 8x a100-sxm4-40gb") != std::string::npos);
  CHECK(several.find("/lab.toml/v100, or ") != std::string::npos);
  CHECK(refusal_of(file.path() + "/both").find("\"both\" leads to 2 kinds of nodes") != std::string::npos);
  const std::string none = refusal_of(file.path() + "/h100");
  CHECK(none.find("has no partition, kind of node or type of GPU \"h100\"") != std::string::npos);
  CHECK(none.find("known: old, both, new") != std::string::npos);
}

TEST_CASE("a scenario says which nodes of a site by its key partition, or in the name") {
  const SiteFile file;
  ScenarioOverrides overrides;
  overrides.model = "resnet50", overrides.cluster = file.path() + "/new";
  CHECK(make_scenario(overrides).cluster.name == "lab/a100");
  overrides.cluster = file.path(), overrides.settings = {"cluster.partition=\"old\""};
  CHECK(make_scenario(overrides).cluster.name == "lab/v100");
  overrides.settings.clear();
  CHECK_THROWS_AS(make_scenario(overrides), InputError);
}

}  // namespace site_kinds_test
