// The words of a request are taken one by one. Each leaves fewer kinds of node, and the word that leaves none
// is the mistake.
#include "sim/import/jobs/node_choice.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/import/jobs/gpu_requirements.hpp"
#include "sim/import/jobs/requested_gpus.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/scenario/site_names.hpp"

namespace foretrain {

namespace {

/// Limit of names in a hint.
constexpr std::size_t kMostKnownNames = 12;

/// Narrows the kinds of a site down to the one that a job gets.
class NodeChoice {
 public:
  NodeChoice(const JobScript& script, const std::vector<ClusterSpec>& kinds, const std::string& site)
      : script_(script), kinds_(kinds), site_(site), left_(kinds) {}

  /// Takes the words that must fit first, then preferences, and refuses if several kinds are left.
  ClusterSpec choose() {
    take_partition();
    take_type();
    take_features();
    take_requirements();
    settle_ties();
    if (left_.size() > 1) refuse_several();
    return std::move(left_.front());
  }

 private:
  using Fits = std::function<bool(const ClusterSpec&)>;

  /// Returns those of the kinds that fit.
  static std::vector<ClusterSpec> those(const std::vector<ClusterSpec>& kinds, const Fits& fits) {
    std::vector<ClusterSpec> out;
    std::ranges::copy_if(kinds, std::back_inserter(out), fits);
    return out;
  }
  /// Keeps only the kinds that fit, if there are any. Returns false and changes nothing if there are none.
  bool keep(const Fits& fits) {
    std::vector<ClusterSpec> fitting = those(left_, fits);
    if (fitting.empty()) return false;
    left_ = std::move(fitting);
    return true;
  }
  /// Throws InputError at a place of the script.
  [[noreturn]] void refuse(const SourceSpan& span, std::string message, std::string hint) const {
    throw InputError({{script_.file, span, "", std::move(message), std::move(hint)}});
  }

  /// Returns the sorted names without repetition, for a hint.
  static std::string known_names(std::vector<std::string> names) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::erase(names, "");
    const std::size_t more = names.size() > kMostKnownNames ? names.size() - kMostKnownNames : 0;
    names.resize(names.size() - more);
    return fmt::format("known: {}{}", fmt::join(names, ", "), more > 0 ? fmt::format(", {} more", more) : "");
  }

  /// Keeps the kinds in the partition of the request; Slurm allows several with commas between them. Sites
  /// without partitions accept any.
  void take_partition() {
    const auto& asked = script_.request.partition;
    const bool has_any =
        std::ranges::any_of(kinds_, [](const ClusterSpec& kind) { return !kind.site.partitions.empty(); });
    if (!asked || !has_any) return;
    const std::vector<std::string_view> names = split_at(asked->value, ',');
    const auto is_in = [&names](const ClusterSpec& kind) {
      return std::ranges::any_of(names, [&kind](std::string_view name) { return has_partition(kind, name); });
    };
    if (keep(is_in)) return;
    std::vector<std::string> known;
    for (const ClusterSpec& kind : kinds_) {
      for (const Partition& partition : kind.site.partitions) known.push_back(partition.name);
    }
    refuse(asked->span, fmt::format("{} has no partition {}", site_, printable(shortened(asked->value, 60))),
           known_names(std::move(known)));
  }

  /// Returns the words for the place of the search: "partition a40 of lab.toml", or the site.
  std::string where() const {
    const auto& asked = script_.request.partition;
    return asked && left_.size() < kinds_.size()
               ? fmt::format("partition {} of {}", printable(shortened(asked->value, 60)), site_)
               : site_;
  }

  /// Returns a hint with a partition that would fit; empty when no kind fits.
  std::string elsewhere(const Fits& fits) const {
    const std::vector<ClusterSpec> others = those(kinds_, fits);
    if (others.empty()) return "";
    if (others.front().site.partitions.empty()) return how_to_choose(others, site_);
    return fmt::format("partition {} has {}x {}", others.front().site.partitions.front().name,
                       others.front().node.gpus, others.front().node.gpu.name);
  }

  /// Keeps the kinds with the type of GPU in the request: the site's own word, else the name of a product.
  void take_type() {
    const auto& type = script_.request.gpu_type;
    if (!type) return;
    const Fits by_type = [&type](const ClusterSpec& kind) {
      return is_gpu_of_type(type->value, kind.site.gpu_type);
    };
    const Fits by_name = [&type](const ClusterSpec& kind) {
      return names_product(type->value, kind.node.gpu.name);
    };
    // The site's own word goes before the name of a product.
    if (keep(by_type) || keep(by_name)) return;
    std::vector<std::string> known;
    for (const ClusterSpec& kind : kinds_) known.push_back(kind.site.gpu_type);
    const std::string hint =
        elsewhere([&](const ClusterSpec& kind) { return by_type(kind) || by_name(kind); });
    refuse(type->span,
           fmt::format("GPUs of type {} are asked for, but {} has {}", printable(shortened(type->value, 60)),
                       where(), kinds_in_words(left_)),
           hint.empty() ? known_names(std::move(known)) : hint);
  }

  /// Keeps the kinds with each feature of the request.
  void take_features() {
    std::vector<std::string> known;
    for (const ClusterSpec& kind : kinds_)
      known.insert(known.end(), kind.site.constraints.begin(), kind.site.constraints.end());
    for (const Found<std::string>& feature : script_.request.constraints) {
      const Fits has = [&feature](const ClusterSpec& kind) {
        return std::ranges::find(kind.site.constraints, feature.value) != kind.site.constraints.end() ||
               names_product(feature.value, kind.node.gpu.name);
      };
      // Words that name no GPU are not known to be wrong at a site that states no features.
      if (keep(has) || known.empty()) continue;
      const std::string hint = elsewhere(has);
      refuse(feature.span,
             fmt::format("{} has no nodes with the feature {}", where(),
                         printable(shortened(feature.value, 60))),
             hint.empty() ? known_names(std::move(known)) : hint);
    }
  }

  /// Keeps the kinds whose GPU satisfies HTCondor's expressions, or may satisfy them.
  void take_requirements() {
    for (const Found<std::string>& expression : script_.request.requirements) {
      const Fits holds = [&expression](const ClusterSpec& kind) {
        return satisfies(kind.node.gpu, expression.value) != std::optional(false);
      };
      if (!keep(holds))
        refuse(expression.span,
               fmt::format("no GPU of {} has {}", where(), printable(shortened(expression.value, 100))),
               kinds_in_words(left_));
    }
  }

  /// Applies preferences, which leave the kinds unchanged if none fits: asking for too much is a mistake that
  /// the checks report.
  void settle_ties() {
    const JobResources& asked = script_.resources;
    if (asked.gpus_per_node) {
      const int gpus = asked.gpus_per_node->value;
      // Nodes with enough GPUs are preferred, and among them those with exactly as many.
      keep([gpus](const ClusterSpec& kind) { return kind.node.gpus >= gpus; });
      keep([gpus](const ClusterSpec& kind) { return kind.node.gpus == gpus; });
    }
    if (asked.cpus_per_node) {
      const int cpus = asked.cpus_per_node->value;
      // A CPU of a request may be a hardware thread, of which a core has two.
      keep([cpus](const ClusterSpec& kind) { return 2 * kind.node.host.cores >= cpus; });
    }
    if (script_.request.partition) return;
    keep([](const ClusterSpec& kind) {
      return std::ranges::any_of(kind.site.partitions, &Partition::is_default);
    });
  }

  /// Throws InputError with the kinds that are left, and what would choose one.
  [[noreturn]] void refuse_several() const {
    const auto& asked = script_.request.partition;
    const std::string_view directive =
        asked || left_.front().site.partitions.empty() ? "a type of GPU" : "a partition";
    refuse(asked ? asked->span : SourceSpan{},
           fmt::format("the job may get {} kinds of nodes of {}: {}", left_.size(), where(),
                       kinds_in_words(left_)),
           fmt::format("say {} in the script, or {}", directive, how_to_choose(left_, site_)));
  }

  const JobScript& script_;
  const std::vector<ClusterSpec>& kinds_;
  const std::string& site_;
  std::vector<ClusterSpec> left_;
};

}  // namespace

ClusterSpec nodes_for_job(const JobScript& script, const std::vector<ClusterSpec>& kinds,
                          const std::string& site) {
  return kinds.size() == 1 ? kinds.front() : NodeChoice(script, kinds, site).choose();
}

}  // namespace foretrain
