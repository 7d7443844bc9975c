// The table [site] of a cluster file.
#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"

namespace schema_site_test {

using namespace foretrain;

namespace {

struct ReadSite {
  Site site;
  std::string errors;
};

ReadSite read(const std::string& text) {
  const SourceText source{"box.toml", text};
  Diagnostics diagnostics(source);
  const Table table = parse_toml(source, diagnostics);
  TableReader document(table, "", diagnostics);
  Site site = read_site(document);
  return {site, format(diagnostics.found())};
}

}  // namespace

TEST_CASE("a site has a batch system, partitions with limits and prices") {
  const auto [site, errors] = read(R"([site]
batch_system = "slurm"
gpu_type = "a100"
constraints = ["gpu", "gpu-bw"]
partitions = [{ name = "gpusmall", most_nodes = 1, most_gpus = 2, longest = "36 h" },
              { name = "gputest", longest = "15 min", for_tests = true, whole_nodes = true }]
billing = { unit = "BU", per_gpu_hour = 100, per_core_hour = 1, per_gib_hour = 0.1 }
)");
  CHECK(errors.empty());
  CHECK(site.system == BatchSystem::slurm);
  CHECK(site.gpu_type == "a100");
  CHECK(site.constraints == std::vector<std::string>{"gpu", "gpu-bw"});
  REQUIRE(site.partitions.size() == 2);
  CHECK(site.partitions[0].most_gpus == 2);
  CHECK(to_seconds(site.partitions[0].longest) == 36 * 3600);
  CHECK(site.partitions[1].for_tests);
  CHECK(site.partitions[1].whole_nodes);
  CHECK(site.billing.per_gpu_hour == 100);
  CHECK(site.billing.per_gib_hour == 0.1);
}

TEST_CASE("a site with a batch system is a computing centre, unless it says what it is") {
  CHECK(kind_of(read("[site]\nbatch_system = \"slurm\"\n").site) == SiteKind::hpc);
  CHECK(kind_of(read("[site]\nbatch_system = \"slurm\"\nkind = \"cloud\"\n").site) == SiteKind::cloud);
  CHECK(kind_of(read("[site]\nkind = \"hpc\"\n").site) == SiteKind::hpc);
  CHECK(kind_of(read("[site]\nbatch_system = \"kubernetes\"\n").site) == SiteKind::cloud);
  CHECK(kind_of(read("nodes = 1\n").site) == SiteKind::own);
  CHECK_THAT(read("[site]\nkind = \"clod\"\n").errors, ContainsSubstring("did you mean \"cloud\"?"));
}

TEST_CASE("without the table nothing is known of a site") {
  CHECK(read("nodes = 1\n").site.system == BatchSystem::none);
}

TEST_CASE(
    "texts of a site that end up in job scripts hold no character by which a script could run something") {
  for (const char* bad : {"x\\ntouch pwned\\n#", "a;b", "a b", "$(touch pwned)", "`b`", "a'b", "a\\\\", "a#b",
                          "a/b", "\\u202ea", "é"}) {
    INFO(bad);
    const auto refused = [](const std::string& line) {
      return read("[site]\nbatch_system = \"slurm\"\n" + line).errors;
    };
    const std::string text = "\"" + std::string(bad) + "\"";
    CHECK_THAT(refused("gpu_type = " + text), ContainsSubstring("box.toml:3:12: error: "));
    CHECK_THAT(refused("partitions = [{ name = " + text + " }]"),
               ContainsSubstring("box.toml:3:24: error: "));
    CHECK_THAT(refused("constraints = [\"good\", " + text + "]"),
               ContainsSubstring("box.toml:3:24: error: "));
  }
  for (const char* bad : {"A == 1\\nexecutable = x", "A == $(B)", "A == 1 \\\\", "A # B", "A == `b`"})
    CHECK_THAT(
        read("[site]\nbatch_system = \"htcondor\"\nrequirements = \"" + std::string(bad) + "\"").errors,
        ContainsSubstring("box.toml:3:16: error: "));
}

TEST_CASE("a refused text of a site says which character and what may stand there") {
  const std::string errors = read("[site]\nbatch_system = \"slurm\"\ngpu_type = \"a100;touch\"\n").errors;
  CHECK(errors ==
        "box.toml:3:12: error: site.gpu_type goes into job scripts and must not hold \";\"\n  3 | gpu_type = "
        "\"a100;touch\"\n    |         "
        "   "
        "^^^^^^^^^^^^\n  hint: letters, digits and _ . + -, as in \"a100\"\n");
}

TEST_CASE("features and expressions keep their operators") {
  const auto [site, errors] = read(R"toml([site]
batch_system = "htcondor"
gpu_type = "nvidia_a100_3g.39gb"
constraints = ["a100&(nvlink|nvswitch)", "[rack1*2]"]
requirements = "Capability >= 8.0 && DeviceName == \"NVIDIA L40S\" && GlobalMemoryMb > 45000"
)toml");
  CHECK(errors.empty());
  CHECK(site.gpu_type == "nvidia_a100_3g.39gb");
  CHECK(site.constraints == std::vector<std::string>{"a100&(nvlink|nvswitch)", "[rack1*2]"});
  CHECK(site.requirements == "Capability >= 8.0 && DeviceName == \"NVIDIA L40S\" && GlobalMemoryMb > 45000");
}

TEST_CASE("mistakes in a site are reported where they stand") {
  const std::string errors = read(R"([site]
batch_system = "slrum"
partitions = [{ most_gpus = 0 }, 3]
billing = { per_gpu_hour = -1 }
colour = "red"
)")
                                 .errors;
  CHECK_THAT(errors, ContainsSubstring("did you mean \"slurm\"?"));
  CHECK_THAT(errors, ContainsSubstring("box.toml:3:29: error: site.partitions.most_gpus"));
  CHECK_THAT(errors, ContainsSubstring("a partition is a table"));
  CHECK_THAT(errors, ContainsSubstring("site.billing.unit"));
  CHECK_THAT(errors, ContainsSubstring("colour"));
}

}  // namespace schema_site_test
