// Fuzz target: sweeps from any bytes; mistakes must come as InputError, and one without mistakes must keep
// its meaning when it is written and read again, and have cases with the values of its axes.
#include <cstdint>
#include <string>

#include "sim/scenario/sweep/sweep_cases.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using foretrain::test::require;
  const foretrain::SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  try {
    const foretrain::Sweep sweep = foretrain::read_or_throw(source, foretrain::read_sweep);
    foretrain::SweepCases cases(sweep, "ddp", source);
    require(cases.numbers() >= 1 && cases.numbers() <= foretrain::kMostCases);
    const foretrain::SourceText kept{"kept.toml", foretrain::sweep_text(sweep)};
    if (kept.text.size() > 100'000) return 0;
    require(foretrain::sweep_text(foretrain::read_or_throw(kept, foretrain::read_sweep)) == kept.text);
    for (const std::int64_t number : {std::int64_t{0}, cases.numbers() / 2, cases.numbers() - 1}) {
      const auto values = cases.values(number);
      require(values.size() == cases.columns().size());
      cases.is_case(number, values);
    }
  } catch (const foretrain::InputError& error) {
    require(!error.diagnostics().empty());
  }
  return 0;
}
