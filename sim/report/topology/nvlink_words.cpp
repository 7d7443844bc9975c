// Recognises the arrangement of NVLinks from the numbers of links between pairs alone.
#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/topology/cluster_words.hpp"
#include "sim/report/topology/node_view.hpp"

namespace foretrain {

namespace {

// GPUs that are joined, by number.
using MeshOfGpus = std::vector<std::size_t>;

// Recognises the arrangement of one node.
class NvlinkShape {
 public:
  explicit NvlinkShape(const NvlinkCounts& counts) : counts_(counts), gpus_(counts.between.size()) {}

  /// Returns the name of the arrangement. The more special ones are tried first.
  std::string words() const {
    if (std::ranges::all_of(counts_.to_switches, [](int count) { return count > 0; }))
      return "all through NVSwitches";
    if (is_cube_mesh()) return "hybrid cube mesh";
    const std::vector<MeshOfGpus> groups = joined_groups();
    if (std::ranges::all_of(groups, [this](const MeshOfGpus& group) { return is_mesh(group); }))
      return meshes(groups);
    if (groups.size() == 1 && is_ring()) return "a ring";
    return groups.size() == 1 ? partly() : fmt::format("{} groups apart from each other", groups.size());
  }

 private:
  /// Returns true when two GPUs have a direct link.
  bool are_joined(std::size_t a, std::size_t b) const { return counts_.between[a][b] > 0; }

  /// Returns the GPUs that are joined to this one.
  MeshOfGpus neighbours(std::size_t gpu) const {
    MeshOfGpus out;
    for (std::size_t other = 0; other < gpus_; ++other) {
      if (are_joined(gpu, other)) out.push_back(other);
    }
    return out;
  }

  /// Returns true when every two GPUs of the group are joined.
  bool is_mesh(const MeshOfGpus& group) const {
    for (const std::size_t a : group) {
      for (const std::size_t b : group) {
        if (a != b && !are_joined(a, b)) return false;
      }
    }
    return true;
  }

  /// Returns true for two meshes of four in which each GPU is joined to one of the other mesh. This is the
  /// hybrid cube mesh of DGX-1: a cube with the diagonals of two faces.
  bool is_cube_mesh() const {
    if (gpus_ != 8 || neighbours(0).size() != 4) return false;
    // One of the neighbours of GPU 0 is in the other mesh; each is tried.
    return std::ranges::any_of(neighbours(0), [this](std::size_t across) {
      MeshOfGpus near = neighbours(0), far;
      std::erase(near, across);
      near.push_back(0);
      for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
        if (std::ranges::find(near, gpu) == near.end()) far.push_back(gpu);
      }
      return is_mesh(near) && is_mesh(far) && is_matched(near, far) && is_matched(far, near);
    });
  }

  /// Returns true when every GPU of `near` is joined to exactly one of `far`.
  bool is_matched(const MeshOfGpus& near, const MeshOfGpus& far) const {
    return std::ranges::all_of(near, [&](std::size_t gpu) {
      return std::ranges::count_if(far, [&](std::size_t other) { return are_joined(gpu, other); }) == 1;
    });
  }

  /// Returns the connected groups of GPUs.
  std::vector<MeshOfGpus> joined_groups() const {
    std::vector<MeshOfGpus> groups;
    std::set<std::size_t> seen;
    for (std::size_t first = 0; first < gpus_; ++first) {
      if (!seen.insert(first).second) continue;
      MeshOfGpus group{first};
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (const std::size_t next : neighbours(group[i])) {
          if (seen.insert(next).second) group.push_back(next);
        }
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

  /// Returns the description of groups that are all meshes.
  std::string meshes(const std::vector<MeshOfGpus>& groups) const {
    const auto largest = std::ranges::max(groups, {}, &MeshOfGpus::size).size();
    const bool are_even =
        std::ranges::all_of(groups, [largest](const MeshOfGpus& group) { return group.size() == largest; });
    // GPUs may have links to a CPU alone.
    if (largest == 1) return "none between GPUs";
    if (groups.size() == 1) return largest == 2 ? "one pair" : "full mesh";
    if (!are_even) return fmt::format("{} groups of up to {}", groups.size(), largest);
    return largest == 2 ? fmt::format("{} pairs", groups.size())
                        : fmt::format("{} meshes of {}", groups.size(), largest);
  }

  /// Returns true when every GPU is joined to two others.
  bool is_ring() const {
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      if (neighbours(gpu).size() != 2) return false;
    }
    return true;
  }

  /// Returns the description of a single group without a known form.
  std::string partly() const {
    std::size_t least = gpus_, most = 0;
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      least = std::min(least, neighbours(gpu).size());
      most = std::max(most, neighbours(gpu).size());
    }
    const std::string reach = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
    return fmt::format("each joined to {} of the other {}", reach, gpus_ - 1);
  }

  const NvlinkCounts& counts_;
  std::size_t gpus_;
};

/// Returns the number of links of a GPU, such as "6" or "4 to 6".
std::string counts_in_words(const NvlinkCounts& counts) {
  int least = counts.of(0), most = least;
  for (std::size_t gpu = 0; gpu < counts.between.size(); ++gpu) {
    least = std::min(least, counts.of(gpu));
    most = std::max(most, counts.of(gpu));
  }
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

}  // namespace

std::string nvlinks_in_words(const NodeSpec& node) {
  const NvlinkCounts counts = nvlink_counts(node);
  const std::string_view noun = is_amd(node.gpu.architecture) ? "Infinity Fabric link" : "NVLink";
  if (counts.empty()) return fmt::format("no {}", noun);
  const std::string number = counts_in_words(counts);
  std::string out =
      fmt::format("{} {}{}", number, plural(number == "1" ? 1 : 2, noun), node.gpus > 1 ? " each" : "");
  if (node.gpus > 1) out += ", " + NvlinkShape(counts).words();
  const int to_cpus = std::ranges::max(counts.to_cpus);
  return to_cpus > 0 ? out + fmt::format(", {} of them to the CPU", to_cpus) : out;
}

}  // namespace foretrain
