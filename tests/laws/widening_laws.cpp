// Every network of the catalog becomes wider and narrower, or says why not.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/layers/widening.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"

namespace widening_laws {

using namespace foretrain;

TEST_CASE("every network of the catalog has wider and narrower sisters, or names the layer that has none") {
  int widths = 0, networks = 0;
  for (const std::string& name : names_in(CatalogKind::models)) {
    if (name.find("gpt3_") == 0 && name != "gpt3_125m") continue;  // the same layers, only more
    const SourceText source = open_named(CatalogKind::models, name).value();
    Diagnostics diagnostics(source);
    const ModelFile file = read_model_file(source, diagnostics);
    INFO(name);
    ++networks;
    if (!why_not_widened(file.model).empty()) continue;
    ++widths;
    const auto own = static_cast<double>(file.expanded.parameter_elements());
    for (const auto& [factor, least, most] :
         {std::tuple(0.5, 0.24, 0.8), std::tuple(1.0, 1.0, 1.0), std::tuple(2.0, 1.3, 4.01)}) {
      const ExpansionResult wider = expand(widened(file.model, factor));
      INFO("times " << factor << (wider.faults.empty() ? "" : ": " + wider.faults.front().message));
      REQUIRE(wider.faults.empty());
      const double growth = static_cast<double>(wider.model.parameter_elements()) / own;
      CHECK(growth >= least);
      CHECK(growth <= most);
    }
  }
  CHECK(widths > networks / 2);
}

}  // namespace widening_laws
