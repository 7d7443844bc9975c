// A cluster's file that names a calibration: constants take their places, and mistakes are shown in the file
// they are in.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace cluster_calibration_test {

using namespace foretrain;

namespace {

/// A folder with mine.toml, a calibration, and cluster.toml, which names it.
class TwoFiles {
 public:
  explicit TwoFiles(const std::string& calibration) {
    test::use_source_catalogs();
    std::string name = (std::filesystem::temp_directory_path() / "foretrain-calibration-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    std::ofstream(path_ / "mine.toml") << calibration;
    std::ofstream(path_ / "cluster.toml") << text(mine());
  }
  ~TwoFiles() { std::filesystem::remove_all(path_); }
  TwoFiles(const TwoFiles&) = delete;

  std::string mine() const { return (path_ / "mine.toml").string(); }
  std::string cluster() const { return (path_ / "cluster.toml").string(); }

  static std::string text(const std::string& calibration) {
    return "nodes = 2\ncalibration = \"" + calibration +
           "\"\n[node]\ngpus = 1\ngpu = \"v100-sxm2-32gb\"\ncpus = 1\nnics = 1\n[node.host]\ncpu = "
           "\"x\"\ncores = 8\nslowdown = 2.0\n"
           "memory = \"64 GiB\"\nmemory_bandwidth = \"8 GBps\"\n[[node.links]]\nlink = \"pcie3_x16\"\npairs "
           "= [[\"gpu0\", \"cpu0\"], "
           "[\"nic0\", \"cpu0\"]]\n[fabric]\nkind = \"star\"\nlink = \"ib_hdr100\"\n";
  }

 private:
  std::filesystem::path path_;
};

std::string constant(const std::string& name, const std::string& value) {
  return "[constants.\"" + name + "\"]\nvalue = " + value + "\nspread = 0.05\n";
}

std::string errors_of(const std::string& text) {
  test::use_source_catalogs();
  const SourceText source{"cluster.toml", text};
  Diagnostics diagnostics(source);
  read_cluster(source, diagnostics);
  return format(diagnostics.found());
}

}  // namespace

TEST_CASE(
    "a cluster's calibration stands in its GPU, host and links, and is kept for what times kernels and "
    "collectives") {
  const TwoFiles files(constant("gpu.memory_efficiency", "0.7") +
                       constant("link.ib_hdr100.bandwidth", "\"11 GBps\"") +
                       constant("nccl.kernel", "\"9 us\""));
  const ClusterSpec cluster = open_cluster(files.cluster());
  CHECK(cluster.node.gpu.memory_efficiency == 0.7);
  CHECK(cluster.fabric.link.bandwidth.per_second == 11e9);
  CHECK(cluster.calibration.name == "mine");
  REQUIRE(cluster.calibration.find("nccl.kernel") != nullptr);
  CHECK(cluster.calibration.find("nccl.kernel")->value == Approx(9e-6));
}

TEST_CASE("without its calibration a cluster is what data sheets say") {
  const TwoFiles files(constant("gpu.memory_efficiency", "0.7"));
  const ClusterSpec cluster = open_uncalibrated_cluster(files.cluster());
  CHECK(cluster.calibration.empty());
  CHECK(cluster.calibration.name.empty());
  CHECK(cluster.node.gpu.memory_efficiency != 0.7);
}

TEST_CASE("mistakes in a calibration are shown in its own file, at their lines") {
  const TwoFiles files(constant("gpu.memory_efficiency", "7") + constant("gpu.colour", "1"));
  const std::string errors = errors_of(TwoFiles::text(files.mine()));
  CHECK_THAT(errors, ContainsSubstring("mine.toml:2:"));
  CHECK_THAT(errors, ContainsSubstring("must be from 0.05 to 1"));
  CHECK_THAT(errors, ContainsSubstring("mine.toml:4:"));
  CHECK_THAT(errors, ContainsSubstring("unknown constant \"gpu.colour\""));
}

TEST_CASE("a calibration that is not there is a mistake of the cluster's file") {
  const std::string unknown = errors_of(TwoFiles::text("no-such-calibration"));
  CHECK_THAT(unknown, ContainsSubstring("cluster.toml:2:"));
  CHECK_THAT(unknown, ContainsSubstring("no-such-calibration"));
  CHECK_THAT(errors_of(TwoFiles::text("./no-such-file.toml")), ContainsSubstring("no-such-file.toml"));
  CHECK_FALSE(errors_of("calibration = 3\n" +
                        TwoFiles::text("x").substr(std::string("nodes = 2\ncalibration = \"x\"\n").size()))
                  .empty());
}

TEST_CASE("an empty calibration changes nothing") {
  const TwoFiles files("description = \"nothing was measured\"\n");
  const ClusterSpec with = open_cluster(files.cluster()),
                    without = open_uncalibrated_cluster(files.cluster());
  CHECK(with.calibration.empty());
  CHECK(with.node.gpu.memory_efficiency == without.node.gpu.memory_efficiency);
  CHECK(with.fabric.link.bandwidth.per_second == without.fabric.link.bandwidth.per_second);
}

}  // namespace cluster_calibration_test
