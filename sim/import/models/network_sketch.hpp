// A network while it is made of another's graph: layers by number, which take results by number; written as a
// model file in the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrain {

/// Writes a model file layer by layer while a graph of another tool is read. Results are numbers in the order
/// of their making.
class NetworkSketch {
 public:
  using Result = std::size_t;
  using Sizes = std::vector<std::int64_t>;  ///< a shape of a model file: one to four sizes of one sample

  /// A further input of the network, the first one too. `tokens`: of ids.
  Result input(Sizes sizes, bool tokens);
  /// A layer: what stands in its braces beside `from` and `as`, what it takes, the shape of its result.
  Result add(std::string body, std::vector<Result> inputs, Sizes sizes);
  /// The same elements in another shape; nothing where it is the same.
  Result reshaped(Result from, const Sizes& sizes);
  /// A result becomes a loss. Layers that lead to none are left out.
  void loss(Result of, const std::string& kind);

  const Sizes& sizes(Result result) const { return lines_[result].sizes; }
  std::size_t count() const { return lines_.size(); }
  bool is_input(Result result) const { return lines_[result].is_input; }
  /// What made a result, without `from` and `as`.
  const std::string& body(Result result) const { return lines_[result].body; }
  Result taken_by(Result result) const { return lines_[result].inputs.front(); }

  /// By result: whether a loss follows from it.
  std::vector<bool> needed() const;
  /// The model file; requires an input and a loss.
  std::string text(const std::string& description) const;

 private:
  struct Line {
    std::string body;
    std::vector<Result> inputs;
    Sizes sizes;
    bool is_input = false, tokens = false, is_loss = false;
  };
  std::vector<Line> lines_;
};

/// "[3, 224, 224]".
std::string list_text(const std::vector<std::int64_t>& numbers);

}  // namespace foretrain
