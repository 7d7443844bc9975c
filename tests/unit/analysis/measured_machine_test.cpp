// Memory of rows that were measured on a machine.
#include "sim/analysis/validation/measured_machine.hpp"

#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"

namespace measured_machine_test {

using namespace foretrain;

TEST_CASE("a row has the memory that its GPU leaves to programs, not the memory of the data sheet") {
  const Gpu gpu = open_cluster("puhti").node.gpu;
  REQUIRE(gpu.capacity().count != gpu.memory.count);
  Measurement row;
  row.series = "a", row.model = "mnist_net", row.cluster = "puhti", row.strategy = "single";
  row.precision = "fp32", row.batch_per_gpu = 64, row.line = 2;
  const auto memory = memory_needed(row);
  REQUIRE(memory);
  CHECK(memory->there == static_cast<double>(gpu.capacity().count));
  CHECK(memory->needed > 0);
}

}  // namespace measured_machine_test
