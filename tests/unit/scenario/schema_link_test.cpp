// Tests of the link file: kind, rate, efficiency and latency of one kind of link.
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"

namespace schema_link_test {

using namespace foretrain;

namespace {

struct ReadLink {
  LinkType link;
  std::string errors;
};

ReadLink read(const std::string& text) {
  const SourceText source{"nvlink2.toml", text};
  Diagnostics diagnostics(source);
  LinkType link = read_link_type(source, diagnostics);
  return {link, format(diagnostics.found())};
}

}  // namespace

TEST_CASE("a link file gives kind, bandwidth, efficiency and latency") {
  const auto [link, errors] = read(R"(kind = "nvlink"
bandwidth = "24.25 GBps"
collective_efficiency = 0.9
latency = "1.8 us"
)");
  REQUIRE(errors.empty());
  CHECK(link.name == "nvlink2");
  CHECK(link.kind == LinkKind::nvlink);
  CHECK(link.bandwidth.per_second == Approx(24.25e9));
  CHECK(link.collective_efficiency == 0.9);
  CHECK(link.latency == microseconds(1.8));
}

TEST_CASE("bandwidth may be written in bits") {
  CHECK(read("kind = \"network\"\nbandwidth = \"100 Gbps\"\n").link.bandwidth.per_second == Approx(12.5e9));
}

TEST_CASE("every kind of link has its name") {
  const std::vector<std::string> names{"pcie", "nvlink", "socket", "network"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [link, errors] = read("kind = \"" + names[i] + "\"\nbandwidth = \"1 GBps\"\n");
    CHECK(errors.empty());
    CHECK(link.kind == static_cast<LinkKind>(i));
  }
}

TEST_CASE("every mistake of a link file is reported at once") {
  CHECK(read(R"(kind = "nvlnk"
bandwidth = "0 GBps"
collective_efficiency = 0
latency = "1.8 GB"
speed = 3
)")
            .errors ==
        "nvlink2.toml:1:8: error: unknown kind \"nvlnk\"\n"
        "  1 | kind = \"nvlnk\"\n"
        "    |        ^^^^^^^\n"
        "  hint: did you mean \"nvlink\"?\n"
        "nvlink2.toml:2:13: error: bandwidth must be at least one byte per second\n"
        "  2 | bandwidth = \"0 GBps\"\n"
        "    |             ^^^^^^^^\n"
        "nvlink2.toml:3:25: error: collective_efficiency must be a number from 0.01 to 1\n"
        "  3 | collective_efficiency = 0\n"
        "    |                         ^\n"
        "nvlink2.toml:4:11: error: latency: \"1.8 GB\" is a size, a time is needed\n"
        "  4 | latency = \"1.8 GB\"\n"
        "    |           ^^^^^^^^\n"
        "  hint: write it as in \"2.5 us\"\n"
        "nvlink2.toml:5:1: error: unknown key \"speed\"\n"
        "  5 | speed = 3\n"
        "    | ^^^^^\n"
        "  hint: known: kind, bandwidth, line_rate, nccl_bandwidth, collective_efficiency, latency, "
        "collective_latency, rendezvous_latency, eager_limit, inject_latency, inject_limit, message_gap, "
        "crowded_message_gap, crowded_nodes, "
        "flows, flow_threads, flow_bandwidth, nccl_latency, nccl_buffer, simple_only, …\n"
        "5 errors\n");
}

TEST_CASE("a link file needs a kind and a bandwidth") {
  CHECK(read("latency = \"1 us\"\n").errors ==
        "nvlink2.toml: error: kind is missing\n"
        "  hint: add kind = \"nvlink\"\n"
        "nvlink2.toml: error: bandwidth is missing\n"
        "  hint: add bandwidth = \"25 GBps\"\n"
        "2 errors\n");
}

TEST_CASE("a link file may say what NCCL books for the link") {
  CHECK(
      read("kind = \"pcie\"\nbandwidth = \"26 GBps\"\nnccl_bandwidth = \"24 GBps\"\n").link.nccl_bandwidth ==
      ByteRate{24e9});
  CHECK(read("kind = \"pcie\"\nbandwidth = \"26 GBps\"\n").link.nccl_bandwidth == ByteRate{});
  CHECK(read("kind = \"pcie\"\nbandwidth = \"26 GBps\"\nnccl_bandwidth = \"0 GBps\"\n").errors ==
        "nvlink2.toml:3:18: error: nccl_bandwidth must be at least one byte per second\n"
        "  3 | nccl_bandwidth = \"0 GBps\"\n"
        "    |                  ^^^^^^^^\n");
}

TEST_CASE("a bandwidth or a latency that no link has is refused with its limits") {
  CHECK(read("kind = \"network\"\nbandwidth = \"1e-320 GBps\"\n").errors ==
        "nvlink2.toml:2:13: error: bandwidth: \"1e-320 GBps\" is out of range\n"
        "  2 | bandwidth = \"1e-320 GBps\"\n"
        "    |             ^^^^^^^^^^^^^\n"
        "  hint: a bandwidth is 0, or from 1e-09 GBps to 1e+09 GBps\n");
  for (const char* key : {"latency", "collective_latency", "rendezvous_latency", "inject_latency"})
    CHECK_THAT(
        read("kind = \"network\"\nbandwidth = \"1 GBps\"\n" + std::string(key) + " = \"1e300 s\"\n").errors,
        ContainsSubstring("hint: a time is 0, or from 1e-12 s to 1 s"));
}

}  // namespace schema_link_test
