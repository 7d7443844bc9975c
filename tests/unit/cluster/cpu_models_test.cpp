// The catalog of CPUs: names as lscpu prints them, sockets, what is assumed of others.
#include "sim/cluster/cpu_models.hpp"

#include <set>
#include <string>

#include "tests/support/catch.hpp"

namespace cpu_models_test {

using namespace foretrain;

namespace {

std::string found(std::string_view text) {
  const CpuModel* row = find_cpu(text);
  return row == nullptr ? "" : std::string(row->name);
}

Host host_of(std::string cpu, int cores) {
  Host host;
  host.cpu = std::move(cpu), host.cores = cores;
  return host;
}

}  // namespace

TEST_CASE("a CPU is found by the name that lscpu prints") {
  CHECK(found("AMD EPYC 7742 64-Core Processor") == "AMD EPYC 7742");
  CHECK(found("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz") == "Intel Xeon Gold 6230");
  CHECK(found("Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz") == "Intel Xeon E5-2698 v4");
  CHECK(found("Intel(R) Xeon(R) Platinum 8480+") == "Intel Xeon Platinum 8480+");
  CHECK(found("13th Gen Intel(R) Core(TM) i9-13900K") == "Intel Core i9-13900K");
  CHECK(found("AMD Ryzen 9 7950X 16-Core Processor") == "AMD Ryzen 9 7950X");
  CHECK(found("2x AMD EPYC 7V12") == "AMD EPYC 7V12");
}

TEST_CASE("a name that is part of another, or of none, is not that CPU") {
  CHECK(found("AMD EPYC 7543P 32-Core Processor") == "AMD EPYC 7543P");
  CHECK(found("AMD EPYC 77420").empty());
  CHECK(found("2x Intel Xeon (assumed)").empty());
  CHECK(found("").empty());
}

TEST_CASE("sockets are stated or follow from the node's cores") {
  CHECK(processors_of(host_of("2x AMD EPYC 7742", 128)).sockets == 2);
  CHECK(processors_of(host_of("2x AMD EPYC 7742", 64)).sockets == 2);
  CHECK(processors_of(host_of("AMD EPYC 7742 64-Core Processor", 128)).sockets == 2);
  CHECK(processors_of(host_of("AMD EPYC 7742 64-Core Processor", 8)).sockets == 1);
  CHECK(processors_of(host_of("2x AMD EPYC 7742", 128)).memory_bandwidth.per_second == 409.6e9);
}

TEST_CASE("a CPU that is not in the catalog has four gigabytes a second for each core") {
  const HostProcessors cpus = processors_of(host_of("a CPU of 2031", 50));
  CHECK(cpus.model == nullptr);
  CHECK(cpus.memory_bandwidth.per_second == 200e9);
}

TEST_CASE("rows of the catalog are plausible, find themselves and have a source") {
  std::set<std::string_view> names;
  for (const CpuModel& row : cpu_models()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(found(row.name) == row.name);
    CHECK((row.cores >= 4 && row.cores <= 192));
    CHECK((row.all_ghz >= 1.5 && row.all_ghz <= row.one_ghz && row.one_ghz <= 6.2));
    CHECK((row.memory_gbps >= 40 && row.memory_gbps <= 700));
    CHECK((row.vector_bits == 128 || row.vector_bits == 256 || row.vector_bits == 512));
    CHECK((row.slowdown >= 0.6 && row.slowdown <= 2.6));
    CHECK_FALSE(row.source.empty());
  }
  CHECK(names.size() >= 120);
}

}  // namespace cpu_models_test
