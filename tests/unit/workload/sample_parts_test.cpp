// A sample divided into parts: everything that grows with the batch is divided.
#include "sim/workload/layers/shared_weights.hpp"
#include "tests/support/expanded_layers.hpp"

namespace sample_parts_test {

using namespace foretrain;

TEST_CASE("a part of a sample has its part of the FLOPs, bytes and visits of a pool") {
  const ExpandedModel whole = test::expanded({4, 8, 8}, {test::max_pool(2)});
  ExpandedModel parts = whole;
  divide_sample(parts, 4);
  REQUIRE(whole.forward[0].visits.per_sample > 0);
  CHECK(parts.forward[0].flops.per_sample == whole.forward[0].flops.per_sample / 4);
  CHECK(parts.forward[0].bytes.per_sample == whole.forward[0].bytes.per_sample / 4);
  CHECK(parts.forward[0].visits.per_sample == whole.forward[0].visits.per_sample / 4);
}

}  // namespace sample_parts_test
