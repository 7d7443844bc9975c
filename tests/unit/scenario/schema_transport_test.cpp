// Transport files: every one of the catalog, and what is refused.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/strategy/replicas/sums_over_replicas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace schema_transport_test {

using namespace foretrain;

namespace {

Transport read(const std::string& text) {
  const SourceText source{"t.toml", text};
  Diagnostics diagnostics(source);
  Transport transport = read_transport(source, diagnostics);
  INFO(format(diagnostics.found()));
  CHECK(diagnostics.empty());
  return transport;
}

std::string mistakes(const std::string& text) {
  const SourceText source{"t.toml", text};
  Diagnostics diagnostics(source);
  read_transport(source, diagnostics);
  return format(diagnostics.found());
}

}  // namespace

TEST_CASE("every transport of the catalog is read, and its library is known") {
  test::use_source_catalogs();
  const std::vector<std::string> names = names_in(CatalogKind::transports);
  CHECK(names.size() >= 4);
  for (const std::string& name : names) {
    INFO(name);
    const Transport transport = read(open_named(CatalogKind::transports, name)->text);
    CHECK(find_transport_library(transport.library) != nullptr);
  }
}

TEST_CASE("a key of a transport becomes its member, the others keep their defaults") {
  const Transport t = read(
      "library = \"gloo\"\nmessage_overhead = \"15 us\"\nheader = \"48 B\"\nwire_efficiency = 0.97\nstreams "
      "= 2\nstream_rate = \"3 "
      "GBps\"\n");
  CHECK(t.library == "gloo");
  CHECK(t.message_overhead == microseconds(15));
  CHECK(t.header == Bytes{48});
  CHECK(t.wire_efficiency == 0.97);
  CHECK(t.streams == 2);
  CHECK(t.stream_rate == ByteRate{3e9});
  CHECK(t.host_rate == Transport{}.host_rate);
}

TEST_CASE("mistakes in a transport are shown whole") {
  CHECK(mistakes("library = \"glow\"\n") == R"(t.toml:1:11: error: unknown library "glow"
  1 | library = "glow"
    |           ^^^^^^
  hint: did you mean "gloo"?
)");
  CHECK(mistakes("library = \"gloo\"\nhost_rate = 5\n") ==
        R"(t.toml:2:13: error: host_rate is a bandwidth and needs its unit, as in "25 GBps"
  2 | host_rate = 5
    |             ^
)");
  CHECK(mistakes("library = \"gloo\"\nstreems = 5\n") == R"(t.toml:2:1: error: unknown key "streems"
  2 | streems = 5
    | ^^^^^^^
  hint: did you mean "streams"?
)");
}

TEST_CASE("values of a transport beyond their range are refused") {
  for (const char* line :
       {"wire_efficiency = 0", "wire_efficiency = 1.5", "streams = 0", "streams = 100000",
        "stream_rate = \"0 GBps\"", "message_overhead = \"1 B\"", "segment = 4", "library = 4"}) {
    INFO(line);
    CHECK_THAT(mistakes(std::string(line) + "\n"), ContainsSubstring("error: "));
  }
  CHECK_THAT(mistakes("streams = 1\n"), ContainsSubstring("library is missing"));
}

TEST_CASE("what strategies send over gloo costs what the catalog's file says") {
  test::use_source_catalogs();
  CHECK(read(open_named(CatalogKind::transports, "gloo_tcp")->text) == gloo_over_tcp());
}

TEST_CASE("what TensorFlow's ring sends over gRPC costs what the catalog's file says") {
  test::use_source_catalogs();
  CHECK(read(open_named(CatalogKind::transports, "grpc")->text) == grpc_transport());
}

}  // namespace schema_transport_test
