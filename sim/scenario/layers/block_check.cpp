// Checks of blocks: a depth-first walk over the uses between blocks. A finished block keeps its height, so
// each block is walked once. The walk never goes deeper than the limit, whatever the file contains; its cost
// is linear in the layers of the file.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/scenario/layers/block_expansion.hpp"
#include "sim/scenario/layers/layer_template.hpp"

namespace foretrain {

namespace {

/// The walk of one file. `path_` holds the blocks from the current one up to the first, by which cycles are
/// found.
class BlockWalk {
 public:
  // Collects the parameters that each block needs.
  BlockWalk(const Blocks& blocks, const Arguments& of_size, Diagnostics& diagnostics)
      : blocks_(blocks), of_size_(of_size), diagnostics_(diagnostics) {
    for (const auto& [name, block] : blocks) {
      for (ParameterUse& use : parameters_of(block.layers)) parameters_[name].insert(std::move(use.name));
    }
  }

  // Walks all blocks, used or not, then the model's layers; returns whether they may be expanded.
  bool run(const LayerList& model_layers) {
    for (const auto& [name, block] : blocks_) {
      if (!too_deep_) height_of(name, block);
    }
    height_of(model_layers);
    std::set<std::string> reported;
    for (const ParameterUse& use : parameters_of(model_layers)) {
      if (!of_size_.contains(use.name) && reported.insert(use.name).second)
        report(use.span, fmt::format("\"${}\" has a meaning only inside a block", use.name));
    }
    return sound_;
  }

 private:
  // Reports a fault; after it the blocks may not be expanded.
  void report(SourceSpan span, std::string message, std::string hint = "") {
    sound_ = false;
    if (diagnostics_.found().size() < Diagnostics::kMostDiagnostics)
      diagnostics_.report(span, std::move(message), std::move(hint));
  }

  // Returns the height of a block: 1 plus the largest height of the blocks that it uses.
  int height_of(const std::string& name, const Block& block) {
    const auto known = heights_.find(name);
    if (known != heights_.end()) return known->second;
    path_.push_back(name);
    const int height = 1 + height_of(block.layers);
    path_.pop_back();
    return heights_[name] = height;
  }

  // Returns the largest height of the blocks that a list uses.
  int height_of(const LayerList& layers) {
    int height = 0;
    for (const LayerTemplate& layer : layers) {
      for (const LayerList& branch : layer.branches) height = std::max(height, height_of(branch));
      if (!layer.block.empty()) height = std::max(height, height_of_use(layer));
    }
    return height;
  }

  // Returns the height of a used block; unknown blocks and cycles are reported and count as 0.
  int height_of_use(const LayerTemplate& use) {
    // An unknown block has no height.
    const auto found = blocks_.find(use.block);
    if (found == blocks_.end()) return report_unknown(use), 0;
    check_arguments(use);
    // A block on the path would contain itself.
    const auto start = std::find(path_.begin(), path_.end(), use.block);
    if (start != path_.end()) return report_cycle(use, static_cast<std::size_t>(start - path_.begin())), 0;
    const int depth = static_cast<int>(path_.size());
    // Beyond the limit the walk stops and the use counts as too high.
    const int height =
        depth < kDeepestBlocks && !too_deep_ ? height_of(found->first, found->second) : kDeepestBlocks + 1;
    if (depth + height > kDeepestBlocks && !too_deep_) {
      too_deep_ = true;
      report(use.block_span, fmt::format("blocks are nested more than {} deep", kDeepestBlocks));
    }
    return height;
  }

  void report_unknown(const LayerTemplate& use) {
    std::vector<std::string> names;
    for (const auto& [name, block] : blocks_) names.push_back(name);
    report(use.block_span, fmt::format("unknown block \"{}\"", use.block.substr(0, 60)),
           did_you_mean(use.block, names));
  }

  // Reports a cycle with all blocks in it.
  void report_cycle(const LayerTemplate& use, std::size_t start) {
    std::string chain = "block " + path_[start];
    for (std::size_t i = start + 1; i < path_.size(); ++i) chain += " uses " + path_[i];
    report(use.block_span, fmt::format("{} uses {}", chain, use.block), "a block cannot contain itself");
  }

  // Reports arguments that the block does not have, and parameters that get no value.
  void check_arguments(const LayerTemplate& use) {
    const std::set<std::string>& wanted = parameters_[use.block];
    std::set<std::string> given;
    for (const Argument& argument : use.arguments) {
      given.insert(argument.name);
      if (wanted.contains(argument.name)) continue;
      report(argument.name_span,
             fmt::format("block \"{}\" has no parameter \"{}\"", use.block, argument.name.substr(0, 60)),
             did_you_mean(argument.name, {wanted.begin(), wanted.end()}));
    }
    for (const std::string& name : wanted) {
      if (given.contains(name) || of_size_.contains(name)) continue;
      report(use.layer.span, fmt::format("block \"{}\" needs \"{}\"", use.block, name),
             fmt::format("add it to with = {{ {} = … }}", name));
    }
  }

  const Blocks& blocks_;
  // Values of the network's size, which every block has.
  const Arguments& of_size_;
  Diagnostics& diagnostics_;
  // Parameters by block, and heights of finished blocks.
  std::map<std::string, std::set<std::string>, std::less<>> parameters_;
  std::map<std::string, int> heights_;
  std::vector<std::string> path_;
  bool sound_ = true;
  bool too_deep_ = false;
};

}  // namespace

bool check_blocks(const Blocks& blocks, const LayerList& model_layers, const Arguments& of_size,
                  Diagnostics& diagnostics) {
  return BlockWalk(blocks, of_size, diagnostics).run(model_layers);
}

}  // namespace foretrain
