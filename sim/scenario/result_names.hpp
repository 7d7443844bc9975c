// The names that a model gives to results, block by block: each use of a block sees the names outside, and
// keeps its own to itself.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Turns the names of a file into names that are unique in the flattened model. Names inside a block's use
/// get the number of their scope behind them.
class ResultNames {
 public:
  void enter() { scopes_.push_back({++entered_, {}}); }
  void leave() { scopes_.pop_back(); }

  /// A new name of this scope; nothing when the scope has it already.
  std::optional<std::string> define(std::string_view name);
  /// The list of that name, here or outside; a new one of this scope when there is none.
  std::string define_list(std::string_view name);
  /// The innermost result of that name; nothing when there is none.
  std::optional<std::string> find(std::string_view name) const;
  std::vector<std::string> visible() const;

 private:
  struct Scope {
    int number = 0;
    std::map<std::string, std::string, std::less<>> names;
  };
  std::vector<Scope> scopes_{Scope{}};
  int entered_ = 0;
};

}  // namespace foretrain
