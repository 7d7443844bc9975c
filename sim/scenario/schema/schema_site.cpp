// The table [site] of a cluster file: batch system, partitions with their limits, what an hour costs.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"
#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kMostPartitions = 64, kMostConstraints = 64;
constexpr std::int64_t kMostOfJob = 1'000'000;
constexpr double kDearest = 1e9;

/// What a text that ends up in job scripts may hold besides letters and digits: no line end, `$`, backquote
/// or backslash in any of them.
struct ScriptCharacters {
  std::string_view allowed;
  std::string_view hint;
};
constexpr ScriptCharacters kOfName{"_.+-", "letters, digits and _ . + -, as in \"a100\""};
constexpr ScriptCharacters kOfFeatures{
    "_.+-=:&|,()[]*", "letters, digits and _ . + - = : & | , ( ) [ ] *, as in \"a100&nvlink\""};
constexpr ScriptCharacters kOfExpression{
    "_.+-*/%<>=!&|?:,;()[]{}'\" ", "names, numbers, quoted texts and operators, as in \"Capability == 8.0\""};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Reports the first character that scripts cannot hold; the text where there is none.
std::optional<std::string> for_scripts(TableReader& reader, std::string_view key, SourceSpan span,
                                       std::optional<std::string> text, const ScriptCharacters& characters) {
  if (!text) return text;
  const auto stays = [&](char c) {
    return is_letter_or_digit(c) || characters.allowed.find(c) != std::string_view::npos;
  };
  const auto bad = std::find_if_not(text->begin(), text->end(), stays);
  if (bad == text->end()) return text;
  const std::string_view rest(&*bad, static_cast<std::size_t>(text->end() - bad));
  reader.report(span,
                fmt::format("{} goes into job scripts and must not hold \"{}\"", reader.full_name(key),
                            printable(rest.substr(0, std::max<std::size_t>(1, utf8_length(rest))))),
                std::string(characters.hint));
  return std::nullopt;
}

std::optional<std::string> script_text(TableReader& reader, std::string_view key,
                                       const ScriptCharacters& characters) {
  return for_scripts(reader, key, reader.span_of(key), reader.string(key), characters);
}

std::vector<std::string> read_constraints(TableReader& site) {
  std::vector<std::string> out;
  const auto texts = site.strings("constraints", kMostConstraints);
  for (std::size_t i = 0; texts && i < texts->size(); ++i) {
    const SourceSpan span = std::get<Array>(site.value("constraints")->data)[i].span;
    if (auto text = for_scripts(site, "constraints", span, (*texts)[i], kOfFeatures))
      out.push_back(*std::move(text));
  }
  return out;
}

Partition read_partition(TableReader& reader) {
  Partition partition;
  reader.require("name", "name = \"gpu\"");
  keep(script_text(reader, "name", kOfName), partition.name);
  count(reader, "most_nodes", 1, kMostOfJob, partition.most_nodes);
  count(reader, "most_gpus", 1, kMostOfJob, partition.most_gpus);
  keep(reader.time("longest"), partition.longest);
  keep(reader.boolean("for_tests"), partition.for_tests);
  keep(reader.boolean("whole_nodes"), partition.whole_nodes);
  reader.finish();
  return partition;
}

std::vector<Partition> read_partitions(TableReader& site) {
  std::vector<Partition> out;
  const Array* array = site.array("partitions", kMostPartitions);
  if (array == nullptr) return out;
  for (const Value& element : *array) {
    const Table* table = std::get_if<Table>(&element.data);
    if (table == nullptr) {
      site.report(element.span, "a partition is a table", "as in [[site.partitions]] with name = \"gpu\"");
      continue;
    }
    TableReader reader(*table, site.full_name("partitions"), site.diagnostics());
    out.push_back(read_partition(reader));
  }
  return out;
}

Billing read_billing(TableReader& site) {
  Billing billing;
  const Table* table = site.table("billing");
  if (table == nullptr) return billing;
  TableReader reader(*table, site.full_name("billing"), site.diagnostics());
  reader.require("unit", "unit = \"BU\"");
  keep(reader.string("unit"), billing.unit);
  keep(reader.number("per_gpu_hour", 0, kDearest), billing.per_gpu_hour);
  keep(reader.number("per_core_hour", 0, kDearest), billing.per_core_hour);
  keep(reader.number("per_gib_hour", 0, kDearest), billing.per_gib_hour);
  reader.finish();
  return billing;
}

}  // namespace

Site read_site(TableReader& document) {
  Site site;
  const Table* table = document.table("site");
  if (table == nullptr) return site;
  TableReader reader(*table, "site", document.diagnostics());
  reader.require("batch_system", "batch_system = \"slurm\"");
  choose<BatchSystem>(reader, "batch_system",
                      {{"slurm", BatchSystem::slurm}, {"htcondor", BatchSystem::htcondor}}, site.system);
  keep(script_text(reader, "gpu_type", kOfName), site.gpu_type);
  site.constraints = read_constraints(reader);
  keep(script_text(reader, "requirements", kOfExpression), site.requirements);
  site.partitions = read_partitions(reader);
  site.billing = read_billing(reader);
  reader.finish();
  return site;
}

}  // namespace foretrain
