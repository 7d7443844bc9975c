// The table of strategies.
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"

namespace training_step_test {

using namespace foretrain;

TEST_CASE("strategies are found by name and nothing else") {
  REQUIRE(find_strategy("ddp") != nullptr);
  CHECK(find_strategy("ddp")->name == "ddp");
  CHECK(find_strategy("DDP") == nullptr);
  CHECK(find_strategy("") == nullptr);
  CHECK(strategy_names().size() == strategy_catalog().size());
}

}  // namespace training_step_test
