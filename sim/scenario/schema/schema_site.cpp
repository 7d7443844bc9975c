// The table [site] of a cluster file: batch system, partitions with their limits, and what an hour costs.
// Texts that end up in job scripts are limited to harmless characters.
// [site]
// batch_system = "slurm"
// [[site.partitions]]
// name = "gpu"
// most_nodes = 16
// longest = "36 h"
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/cluster_tables.hpp"

namespace foretrain {

namespace {

/// Upper limits of lists, of nodes and GPUs of a job, and of a price per hour.
constexpr std::size_t kMostPartitions = 256, kMostConstraints = 64;
constexpr std::int64_t kMostOfJob = 1'000'000;
constexpr double kDearest = 1e9;

/// Upper limit of the grams of CO2 per kWh: brown coal alone makes some 1,100.
constexpr double kDirtiestGrid = 2000;

/// Characters that a text for job scripts may have besides letters and digits, and a hint. No text may have a
/// line end, `$`, backquote or backslash.
struct ScriptCharacters {
  std::string_view allowed;
  std::string_view hint;
};
constexpr ScriptCharacters kOfName{"_.+-", "letters, digits and _ . + -, as in \"a100\""};
constexpr ScriptCharacters kOfFeatures{
    "_.+-=:&|,()[]*", "letters, digits and _ . + - = : & | , ( ) [ ] *, as in \"a100&nvlink\""};
constexpr ScriptCharacters kOfExpression{
    "_.+-*/%<>=!&|?:,;()[]{}'\" ", "names, numbers, quoted texts and operators, as in \"Capability == 8.0\""};

/// Does not depend on the locale.
bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Returns the text if scripts can hold all its characters; otherwise reports the first one that they cannot
/// hold.
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

/// A text that ends up in job scripts.
template <auto... Path>
takes::Of<Path...> script_text(ScriptCharacters characters) {
  return {"text", [characters](TableReader& table, std::string_view key, auto& target) {
            const auto text = for_scripts(table, key, table.span_of(key), table.string(key), characters);
            takes::put(text, MemberPath<Path...>::in(target));
          }};
}

/// An amount of money or units, not negative.
template <auto... Path>
takes::Of<Path...> amount() {
  return takes::number<Path...>(0, kDearest);
}

/// Reads features of nodes, each of which ends up in scripts.
void read_features(TableReader& table, std::string_view key, std::vector<std::string>& features) {
  const auto texts = table.strings(key, kMostConstraints);
  for (std::size_t i = 0; texts && i < texts->size(); ++i) {
    const SourceSpan span = std::get<Array>(table.value(key)->data)[i].span;
    if (auto text = for_scripts(table, key, span, (*texts)[i], kOfFeatures))
      features.push_back(*std::move(text));
  }
}

/// Reads constraints of the whole site.
void read_constraints(TableReader& table, std::string_view key, Site& site) {
  read_features(table, key, site.constraints);
}

/// Whether the kinds exist is checked by the reader of the cluster.
void read_kind_names(TableReader& table, std::string_view key, Partition& partition) {
  if (auto kinds = table.strings(key, kMostNodeKinds)) partition.kinds = *std::move(kinds);
}

/// Reads [[site.partitions]].
void read_partitions(TableReader& table, std::string_view key, Site& site) {
  const Array* array = table.array(key, kMostPartitions);
  if (array == nullptr) return;
  for (const Value& element : *array) {
    const Table* partition = std::get_if<Table>(&element.data);
    if (partition == nullptr) {
      table.report(element.span, "a partition is a table", "as in [[site.partitions]] with name = \"gpu\"");
      continue;
    }
    TableReader reader(*partition, table.full_name(key), table.diagnostics());
    site.partitions.emplace_back().span = element.span;
    read_keys(reader, partition_keys(), site.partitions.back());
    reader.finish();
  }
}

/// Reads [site.billing].
void read_billing(TableReader& table, std::string_view key, Site& site) {
  const Table* billing = table.table(key);
  if (billing == nullptr) return;
  TableReader reader(*billing, table.full_name(key), table.diagnostics());
  read_keys(reader, billing_keys(), site.billing);
  reader.finish();
}

/// Reads the kind of site; the names are in the order of the enumeration.
void read_kind_of_site(TableReader& table, std::string_view key, Site& site) {
  static const std::vector<std::string> names{"own", "hpc", "cloud"};
  const auto found = table.one_of(key, names);
  if (found) site.kind = static_cast<SiteKind>(std::ranges::find(names, *found) - names.begin());
}

}  // namespace

/// Keys of [[site.partitions]].
const Keys<Partition>& partition_keys() {
  static const Keys<Partition> keys{
      {"name", script_text<&Partition::name>(kOfName), "\"gpu\"", kRequired, "as in --partition"},
      {"least_nodes", takes::integer<&Partition::least_nodes>(1, kMostOfJob), "1", "none", "of a job"},
      {"least_gpus", takes::integer<&Partition::least_gpus>(1, kMostOfJob), "4", "none", "of a job"},
      {"most_nodes", takes::integer<&Partition::most_nodes>(1, kMostOfJob), "16", "none", "of a job"},
      {"most_gpus", takes::integer<&Partition::most_gpus>(1, kMostOfJob), "64", "none", "of a job"},
      {"longest", takes::time<&Partition::longest>(), "\"36 h\"", "none", "the largest --time"},
      {"for_tests", takes::flag<&Partition::for_tests>(), "true", "false",
       "a short queue, not for production"},
      {"whole_nodes", takes::flag<&Partition::whole_nodes>(), "true", "false",
       "a job gets and pays whole nodes"},
      {"kinds",
       {"list of texts", read_kind_names},
       "[\"a100\"]",
       "all of them",
       "names of the kinds of node in it (`node_kind`, `more_nodes.name`)"},
      {"default", takes::flag<&Partition::is_default>(), "true", "false",
       "a job that names no partition gets it"}};
  return keys;
}

/// Keys of [[more_nodes]] that concern the batch system.
const Keys<NodeKind>& kind_site_keys() {
  static const Keys<NodeKind> keys{
      {"gpu_type", script_text<&NodeKind::gpu_type>(kOfName), "\"a100\"", "none",
       "as `site.gpu_type`, of these nodes"},
      {"constraints",
       {"list of texts", [](TableReader& table, std::string_view key,
                            NodeKind& kind) { read_features(table, key, kind.constraints); }},
       "[\"a100\", \"nvlink\"]",
       "none",
       "as `site.constraints`, of these nodes"}};
  return keys;
}

/// Keys of [site.billing].
const Keys<Billing>& billing_keys() {
  static const Keys<Billing> keys{
      {"unit", takes::text<&Billing::unit>(), "\"BU\"", kRequired, "what the centre charges in"},
      {"per_gpu_hour", amount<&Billing::per_gpu_hour>(), "60", "0", "units for an hour of a GPU"},
      {"per_core_hour", amount<&Billing::per_core_hour>(), "1", "0", "of a core"},
      {"per_gib_hour", amount<&Billing::per_gib_hour>(), "0.1", "0", "of a GiB of memory"}};
  return keys;
}

/// Returns the batch systems of files. "none" is not among them: a site without one has no table.
std::vector<Choice<BatchSystem>> batch_systems() {
  std::vector<Choice<BatchSystem>> out;
  for (std::size_t i = 1; i < kBatchSystemNames.size(); ++i)
    out.push_back({std::string(kBatchSystemNames[i]), static_cast<BatchSystem>(i)});
  return out;
}

/// Keys of [site].
const Keys<Site>& site_keys() {
  static const Keys<Site> keys{
      {"name", script_text<&Site::name>(kOfName), "\"m3\"", "none",
       "of the machine of which several cluster files are parts: `--cluster m3/m3g` is its part with the "
       "partition m3g"},
      {"batch_system", takes::choice<&Site::system>(batch_systems()), "\"slurm\"", "none",
       "whose job scripts `predict --job-script` writes"},
      {"kind",
       {"hpc, cloud, own", read_kind_of_site},
       "\"cloud\"",
       "hpc with a batch system, cloud with Kubernetes, else own",
       "with whom jobs share the network between switches: fabric.background_load"},
      {"gpu_type", script_text<&Site::gpu_type>(kOfName), "\"a100\"", "none", "as in --gres=gpu:a100:4"},
      {"constraints",
       {"list of texts", read_constraints},
       "[\"gpu\"]",
       "none",
       "features by which a job asks for these nodes, as in --constraint=gpu"},
      {"requirements", script_text<&Site::requirements>(kOfExpression), "\"Capability == 8.0\"", "none",
       "HTCondor's require_gpus that selects these GPUs"},
      {"partitions",
       {"list of tables", read_partitions},
       "[{ name = \"gpu\" }]",
       "none",
       "`[[site.partitions]]`, below"},
      {"billing", {"table", read_billing}, "{ unit = \"BU\" }", "none", "`[site.billing]`, below"},
      {"grid_g_per_kwh", takes::number<&Site::grid_g_per_kwh>(0, kDirtiestGrid), "55", "unknown",
       "grams of CO2 per kWh of the electricity"}};
  return keys;
}

/// Without the table there is no batch system.
Site read_site(TableReader& document) {
  Site site;
  const Table* table = document.table("site");
  if (table == nullptr) return site;
  TableReader reader(*table, "site", document.diagnostics());
  read_keys(reader, site_keys(), site);
  reader.finish();
  return site;
}

}  // namespace foretrain
