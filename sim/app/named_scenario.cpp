// Finds the text of a scenario by its name on the command line. The kind of a file is decided by its content,
// since job scripts are called .sh, .sbatch, .slurm, .sub or anything else.
#include "sim/app/named_scenario.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/launch_reader.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/cluster_text.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

// A name with a dot is a file first; a plain name is an entry of the catalog first.
SourceText open_scenario_text(const std::string& name) {
  const bool has_ending = name.find('.') != std::string::npos;
  if (has_ending && is_readable_file(name)) return read_text_file(name);
  if (auto found = open_named(CatalogKind::scenarios, name)) return *std::move(found);
  if (is_readable_file(name)) return read_text_file(name);
  throw InputError(fmt::format("unknown scenario \"{}\"", shortened(name, 60)),
                   unknown_name_hint(CatalogKind::scenarios, name));
}

namespace {

// Bytes within which a program file has its [program] table; only a description may stand before it.
constexpr std::size_t kProgramHead = 4096;

}  // namespace

// Only the start of the file is searched, since recordings can be large.
bool is_program_file(std::string_view text) {
  const std::string_view head = text.substr(0, kProgramHead);
  return head.starts_with("[program]") || head.find("\n[program]") != std::string_view::npos;
}

// A job script is checked against its cluster here, so its mistakes end the command.
NamedScenario open_scenario(const std::string& name, const ScenarioOverrides& overrides) {
  SourceText text = open_scenario_text(name);
  // A program file becomes a scenario that refers to it.
  if (is_program_file(text.text)) {
    // A path in a scenario counts from the scenario's folder, so the bare file name is right.
    const std::string scenario = fmt::format("[model]\nprogram = {}\n", quoted_text(base_name(text.name)));
    return {{text.name + " as a scenario", scenario}, std::nullopt};
  }
  if (name.ends_with(".toml") || !is_job_script(text.text)) return {std::move(text), std::nullopt};
  NamedScenario out;
  out.job = open_job(std::move(text), overrides);
  out.source = {out.job->text.name + " as a scenario", out.job->toml};
  return out;
}

}  // namespace foretrain
