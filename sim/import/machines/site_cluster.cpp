// Writes the cluster file of a site with several kinds of node: the first kind as a cluster file of its own
// has it, then the partitions with their kinds, then the other kinds.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/machines/cluster_sections.hpp"
#include "sim/import/machines/graph_check.hpp"
#include "sim/import/machines/imported_node.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Limit of the name of a kind, in bytes.
constexpr std::size_t kLongestKindName = 60;

/// Returns a text as the name of a kind: lower case, blanks as dashes, and only letters, digits, "_", "-" and
/// ".".
std::string kind_word(std::string_view text) {
  std::string out;
  for (const char c : lower_case(text)) {
    const bool stays = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (stays) out += c;
    if (c == ' ' && !out.empty()) out += '-';
  }
  return out.substr(0, kLongestKindName);
}

/// Writes one site. Every kind of node is a Machine of its own.
class SiteWriter {
 public:
  SiteWriter(const Machine& site, const ImportAnswers& answers) : answers_(answers), kinds_{site} {
    kinds_.front().other_kinds.clear();
    kinds_.insert(kinds_.end(), site.other_kinds.begin(), site.other_kinds.end());
    for (Machine& kind : kinds_) {
      // A job cannot ask for Slurm's GPUs by type where they have none; elsewhere the product serves as type.
      const bool is_untyped = kind.site.system == BatchSystem::slurm;
      if (kind.site.gpu_type.empty() && !is_untyped) kind.site.gpu_type = kind_word(kind.gpu_product);
    }
    refuse_answers_of_one();
    name_kinds();
    order_features();
  }

  /// Writes all kinds. The partitions stand behind the first one, where the schema expects them.
  ImportedCluster write() {
    std::int64_t nodes = 0;
    for (const Machine& kind : kinds_) nodes += std::max(kind.fabric.nodes, 1);
    KindPlace place{names_.front(), true, "",
                    fmt::format("{} of {}", counted(nodes, "node"), counted(std::ssize(kinds_), "kind"))};
    const ImportedNode first = take(0, place);
    out_.text = first.text;
    ClusterText site;
    add_partitions_of_kinds(site, partitions());
    out_.text += site.text();
    place.is_first = false, place.first_network = first.network;
    for (std::size_t i = 1; i < kinds_.size(); ++i) {
      place.name = names_[i];
      out_.text += take(i, place).text;
    }
    return std::move(out_);
  }

 private:
  /// Throws InputError for answers that only make sense where all nodes are alike, and for a --gpu that no
  /// kind has.
  void refuse_answers_of_one() const {
    const std::string_view option = answers_.nodes > 0           ? "--nodes"
                                    : answers_.gpus_per_node > 0 ? "--gpus-per-node"
                                                                 : "";
    if (!option.empty())
      throw InputError(fmt::format("{} is of one kind of nodes, and {} tells of {}", option,
                                   printable(kinds_.front().place.file), kinds_.size()),
                       "--partition NAME chooses one");
    if (answers_.gpu.empty() ||
        std::ranges::any_of(kinds_, [this](const Machine& kind) { return is_answered(kind); }))
      return;
    std::vector<std::string> known;
    for (const Machine& kind : kinds_) known.push_back(kind_of_node_in_words(kind));
    throw InputError(fmt::format("no kind of node in {} has {}", printable(kinds_.front().place.file),
                                 printable(shortened(answers_.gpu, 60))),
                     fmt::format("known: {}", fmt::join(known, "; ")));
  }

  /// Says whether --gpu tells which product a kind has.
  bool is_answered(const Machine& kind) const {
    const std::string& told = kind.gpu_product.empty() ? kind.site.gpu_type : kind.gpu_product;
    return told.empty() || !are_different_products(told, answers_.gpu);
  }

  /// Returns the word that a kind is named by: its type in requests, else its product.
  static std::string word_of(const Machine& kind) {
    return kind_word(kind.site.gpu_type.empty() ? kind.gpu_product : kind.site.gpu_type);
  }

  /// Names the kinds by type or product; where several have the same, the number of GPUs is added.
  void name_kinds() {
    std::map<std::string, int> uses;
    for (const Machine& kind : kinds_) ++uses[word_of(kind)];
    for (const Machine& kind : kinds_) {
      std::string name = word_of(kind);
      if (name.empty() || uses[name] > 1)
        name += fmt::format("{}{}gpu", name.empty() ? "" : "-", gpus_of(kind));
      while (std::ranges::find(names_, name) != names_.end()) name += "-2";
      names_.push_back(std::move(name));
    }
  }

  /// Puts those features first that tell kinds apart, because scripts ask for the first one. Where no feature
  /// does, all are left out.
  void order_features() {
    std::map<std::string, std::size_t> uses;
    for (const Machine& kind : kinds_) {
      for (const std::string& feature : kind.site.constraints) ++uses[feature];
    }
    const auto is_common = [&](const std::string& feature) { return uses[feature] == kinds_.size(); };
    const bool tells = std::ranges::any_of(uses, [&](const auto& row) { return row.second < kinds_.size(); });
    for (Machine& kind : kinds_) {
      if (!tells) kind.site.constraints.clear();
      std::stable_partition(kind.site.constraints.begin(), kind.site.constraints.end(),
                            [&](const std::string& feature) { return !is_common(feature); });
    }
  }

  /// Writes one kind and collects its assumptions and warnings, each with the name of the kind.
  ImportedNode take(std::size_t kind, const KindPlace& place) {
    ImportAnswers own = answers_;
    if (!own.gpu.empty() && !is_answered(kinds_[kind])) own.gpu.clear();
    ImportedNode node = write_imported_node(kinds_[kind], own, place);
    for (const std::string& assumption : node.assumptions)
      out_.assumptions.push_back(fmt::format("{}: {}", place.name, assumption));
    out_.doubts.insert(out_.doubts.end(), node.doubts.begin(), node.doubts.end());
    return node;
  }

  /// Returns every partition once, with the names of the kinds that it has.
  std::vector<Partition> partitions() const {
    std::vector<Partition> all;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      for (const Partition& partition : kinds_[i].site.partitions) {
        auto at = std::ranges::find(all, partition.name, &Partition::name);
        if (at == all.end()) at = all.insert(all.end(), partition);
        at->kinds.push_back(names_[i]);
      }
    }
    return all;
  }

  const ImportAnswers& answers_;
  std::vector<Machine> kinds_;
  std::vector<std::string> names_;
  ImportedCluster out_;
};

/// Writes a machine whose nodes are all alike.
ImportedCluster cluster_of_node(const Machine& machine, const ImportAnswers& answers) {
  ImportedNode node = write_imported_node(machine, answers, {});
  return {std::move(node.text), std::move(node.assumptions), std::move(node.doubts)};
}

}  // namespace

ImportedCluster cluster_of(const Machine& machine, const ImportAnswers& answers) {
  ImportedCluster out =
      machine.other_kinds.empty() ? cluster_of_node(machine, answers) : SiteWriter(machine, answers).write();
  // The text is read back, so that a file that cannot be read is found here.
  const ClusterSpec spec = read_or_throw(SourceText{"imported cluster", out.text}, read_cluster);
  if (machine.other_kinds.empty()) out.checks = graph_checks(spec, machine.graphs);
  return out;
}

}  // namespace foretrain
