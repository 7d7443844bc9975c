// Declares a network under construction: layers and results by number, written as a model file at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrain {

/// Collects the layers of a network while a graph of another tool is read. A result is the number of the call
/// that made it. Numbers grow, so a layer can take earlier results only, and the graph has no cycles. Numbers
/// that this object did not return are not checked.
class NetworkSketch {
 public:
  /// The number of a result: its index in order of creation.
  using Result = std::size_t;
  /// A shape in a model file: one to four sizes of one sample, without the batch.
  using Sizes = std::vector<std::int64_t>;

  /// Adds an input of the network; the first one is added so, too. `tokens`: it holds ids of words.
  Result input(Sizes sizes, bool tokens);
  /// Adds a layer. `body` is the text in its braces except `from` and `as`; `sizes` is the shape of its
  /// result.
  Result add(std::string body, std::vector<Result> inputs, Sizes sizes);
  /// Returns a result with the same elements in another shape; `from` itself where the shape is the same.
  Result reshaped(Result from, const Sizes& sizes);
  /// Makes a result a loss of this kind; an empty kind is the default one. Layers that lead to no loss are
  /// not written.
  void loss(Result of, const std::string& kind);

  /// Returns the shape of a result; the next one, how many results there are.
  const Sizes& sizes(Result result) const { return lines_[result].sizes; }
  std::size_t count() const { return lines_.size(); }
  /// Returns whether a result is an input of the network.
  bool is_input(Result result) const { return lines_[result].is_input; }
  /// Returns the text of the layer that made a result, without `from` and `as`.
  const std::string& body(Result result) const { return lines_[result].body; }
  /// Returns the first input of the layer that made a result. Requires that it has one.
  Result taken_by(Result result) const { return lines_[result].inputs.front(); }

  /// Returns for each result whether a loss follows from it. Linear in the number of layers and inputs.
  std::vector<bool> needed() const;
  /// Returns the model file. Requires that a loss follows from at least one input.
  std::string text(const std::string& description) const;

 private:
  /// One layer, input or loss.
  struct Line {
    std::string body;
    std::vector<Result> inputs;
    Sizes sizes;
    bool is_input = false, tokens = false, is_loss = false;
  };
  std::vector<Line> lines_;
};

/// Returns a list as TOML writes it: "[3, 224, 224]".
std::string list_text(const std::vector<std::int64_t>& numbers);

}  // namespace foretrain
