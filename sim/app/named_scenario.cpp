// What a file is, is told by its text, not by its name: job scripts are called .sh, .sbatch, .slurm, .sub or
// nothing at all.
#include "sim/app/named_scenario.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

SourceText open_scenario_text(const std::string& name) {
  const bool has_ending = name.find('.') != std::string::npos;
  if (has_ending && is_readable_file(name)) return read_text_file(name);
  if (auto found = open_named(CatalogKind::scenarios, name)) return *std::move(found);
  if (is_readable_file(name)) return read_text_file(name);
  throw InputError(fmt::format("unknown scenario \"{}\"", shortened(name, 60)),
                   unknown_name_hint(CatalogKind::scenarios, name));
}

NamedScenario open_scenario(const std::string& name, const ScenarioOverrides& overrides) {
  SourceText text = open_scenario_text(name);
  if (name.ends_with(".toml") || !is_job_script(text.text)) return {std::move(text), std::nullopt};
  NamedScenario out;
  out.job = open_job(std::move(text), overrides);
  out.source = {out.job->text.name + " as a scenario", out.job->toml};
  return out;
}

}  // namespace foretrain
