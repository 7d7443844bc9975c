// Joins the files of a site: one lists its kinds of node, the others describe a node or what all nodes share.
//
// Each file is assigned to the kind that has its GPUs; a file without GPUs, such as a network or a list of
// partitions, goes to all kinds. A file that fits no kind, or several, is refused with the choices.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/machine.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

namespace {

/// Kinds that a message names; more are counted.
constexpr std::size_t kMostKindsNamed = 3;

/// Returns every kind as a machine of its own, the first one in front.
std::vector<Machine> kinds_of_machine(const Machine& site) {
  std::vector<Machine> kinds{site};
  kinds.front().other_kinds.clear();
  kinds.insert(kinds.end(), site.other_kinds.begin(), site.other_kinds.end());
  return kinds;
}

/// Returns the kinds in words, for messages.
std::string kinds_named(const std::vector<const Machine*>& kinds) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostKindsNamed); ++i)
    out += (i == 0 ? "" : "; ") + kind_of_node_in_words(*kinds[i]);
  if (kinds.size() > kMostKindsNamed) out += fmt::format("; {} more", kinds.size() - kMostKindsNamed);
  return out;
}

/// Throws InputError at a place of a file.
[[noreturn]] void refuse_at(const FactPlace& place, std::string message, std::string hint) {
  throw InputError({{place.file, {place.line, 1, 1}, "", std::move(message), std::move(hint)}});
}

/// Returns a list of partitions for nodes whose names are known: only those that hold some of the nodes.
/// Partitions whose nodes are not listed stay.
Machine for_hosts(Machine shared, const Machine& kind) {
  if (kind.hosts.empty()) return shared;
  std::vector<Partition> own;
  for (std::size_t i = 0; i < shared.site.partitions.size(); ++i) {
    const bool is_said = i < shared.partition_hosts.size() && !shared.partition_hosts[i].empty();
    if (!is_said || HostSet(shared.partition_hosts[i]).shares(kind.hosts))
      own.push_back(shared.site.partitions[i]);
  }
  shared.site.partitions = std::move(own);
  return shared;
}

/// Returns whether two machines name the same product.
bool is_named_alike(const Machine& one, const Machine& other) {
  const std::string a = lower_case(one.gpu_product), b = lower_case(other.gpu_product);
  return !a.empty() && a == b;
}

/// Assigns files to kinds. `site` and `meant` must outlive the object. The constructor throws InputError when
/// no kind has the partition that the user means.
class SiteJoin {
 public:
  SiteJoin(const Machine& site, const MeantNodes& meant) : site_(site), meant_(meant) {
    for (Machine& kind : kinds_of_machine(site)) {
      if (is_meant(kind)) files_.push_back({std::move(kind)});
    }
    if (files_.empty()) refuse_partition();
  }

  /// Assigns one file, which may itself describe several kinds. Throws InputError where it fits none or
  /// several.
  void add(const Machine& file) {
    for (const Machine& part : kinds_of_machine(file)) {
      if (gpus_of(part) == 0)
        share(part);
      else
        kind_of(part).push_back(part);
    }
  }

  /// Returns the site: each kind joined from its files, the first kind as the machine itself.
  Machine join() {
    std::vector<Machine> kinds;
    for (const std::vector<Machine>& files : files_) kinds.push_back(joined_node(files));
    Machine out = std::move(kinds.front());
    out.other_kinds.assign(std::make_move_iterator(kinds.begin() + 1), std::make_move_iterator(kinds.end()));
    return out;
  }

 private:
  bool is_meant(const Machine& kind) const {
    return meant_.partition.empty() || std::ranges::find(kind.site.partitions, meant_.partition,
                                                         &Partition::name) != kind.site.partitions.end();
  }

  [[noreturn]] void refuse_partition() const {
    std::vector<std::string> known;
    for (const Machine& kind : kinds_of_machine(site_)) {
      for (const Partition& partition : kind.site.partitions) {
        if (std::ranges::find(known, partition.name) == known.end()) known.push_back(partition.name);
      }
    }
    refuse_at(site_.place,
              fmt::format("there is no partition {} with GPUs", printable(shortened(meant_.partition, 60))),
              fmt::format("known: {}", fmt::join(known, ", ")));
  }

  void share(const Machine& part) {
    for (std::vector<Machine>& files : files_) files.push_back(for_hosts(part, files.front()));
  }

  /// Returns the files of the kind that has these GPUs. Kinds fit by the number of GPUs and by a product that
  /// does not contradict; of several, the only one of the same name is taken.
  std::vector<Machine>& kind_of(const Machine& part) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const Machine& kind = files_[i].front();
      if (gpus_of(kind) == gpus_of(part) && !are_different_products(kind.gpu_product, product_of(part)))
        fitting.push_back(i);
    }
    const auto is_same = [&](std::size_t i) { return is_named_alike(files_[i].front(), part); };
    if (fitting.size() > 1 && std::ranges::count_if(fitting, is_same) == 1)
      return files_[*std::ranges::find_if(fitting, is_same)];
    if (fitting.size() == 1) return files_[fitting.front()];
    std::vector<const Machine*> kinds;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (fitting.empty() || std::ranges::find(fitting, i) != fitting.end())
        kinds.push_back(&files_[i].front());
    }
    if (fitting.empty())
      refuse_at(part.place,
                fmt::format("{} here, and no nodes of {} have them: {}", kind_of_node_in_words(part),
                            to_string(site_.place), kinds_named(kinds)),
                "give files of one and the same site");
    refuse_at(
        part.place,
        fmt::format("{} of {} may be these nodes: {}", counted(std::ssize(fitting), "kind") + " of node",
                    to_string(site_.place), kinds_named(kinds)),
        "--partition NAME chooses the nodes, or --gpu NAME their GPU");
  }

  /// Returns the product that the file gives, otherwise the one that the user gives.
  std::string product_of(const Machine& part) const {
    const std::vector<int> gpus = part.of_kind(PartKind::gpu);
    if (!part.gpu_product.empty()) return part.gpu_product;
    if (!gpus.empty() && !part.parts[static_cast<std::size_t>(gpus.front())].name.empty())
      return part.parts[static_cast<std::size_t>(gpus.front())].name;
    return meant_.gpu;
  }

  const Machine& site_;
  const MeantNodes& meant_;
  // Files by kind; the first one of each is the site's own.
  std::vector<std::vector<Machine>> files_;
};

}  // namespace

std::string kind_of_node_in_words(const Machine& machine) {
  const std::string gpus = counted(gpus_of(machine), "GPU");
  const std::string& product = machine.gpu_product.empty() ? machine.site.gpu_type : machine.gpu_product;
  return product.empty() ? gpus : fmt::format("{} ({})", gpus, printable(shortened(product, 60)));
}

/// A site is the file with most kinds. Where the user means a partition, any file with partitions will do.
Machine joined(const std::vector<Machine>& machines, const MeantNodes& meant) {
  const auto kinds = [](const Machine& machine) { return machine.other_kinds.size(); };
  const auto site = std::ranges::max_element(machines, {}, kinds);
  const bool is_chosen = !meant.partition.empty();
  const auto lists = std::ranges::find_if(machines, [](const Machine& machine) {
    return gpus_of(machine) > 0 && !machine.site.partitions.empty();
  });
  if (kinds(*site) == 0 && !(is_chosen && lists != machines.end())) return joined_node(machines);
  const auto base = kinds(*site) > 0 ? site : lists;
  SiteJoin join(*base, meant);
  for (auto file = machines.begin(); file != machines.end(); ++file) {
    if (file != base) join.add(*file);
  }
  return join.join();
}

}  // namespace foretrain
