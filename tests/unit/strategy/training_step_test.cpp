// The table of strategies.
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"

namespace training_step_test {

using namespace foretrain;

TEST_CASE("strategies are found by name or alias, whatever the case") {
  REQUIRE(find_strategy("ddp") != nullptr);
  CHECK(find_strategy("ddp")->name == "ddp");
  CHECK(find_strategy("DDP") == find_strategy("ddp"));
  CHECK(find_strategy("Zero-3") == find_strategy("zero3"));
  CHECK(find_strategy("ddp4") == nullptr);
  CHECK(find_strategy("") == nullptr);
  CHECK(strategy_names().size() == strategy_catalog().size());
}

}  // namespace training_step_test
