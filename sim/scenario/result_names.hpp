// Names that a model gives to results, block by block. Each use of a block sees the names outside, and its
// own names are not visible outside.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Turns the names of a file into names that are unique in the flattened model. Names inside a block's use
/// get the number of their scope appended.
class ResultNames {
 public:
  /// Begin and end the use of a block.
  void enter() { scopes_.push_back({++entered_, {}}); }
  void leave() { scopes_.pop_back(); }

  /// Returns a new name of this scope; nullopt when the scope has it already.
  std::optional<std::string> define(std::string_view name);
  /// Returns the list of that name, here or outside; a new one of this scope when there is none.
  std::string define_list(std::string_view name);
  /// Returns the innermost result of that name; nullopt when there is none.
  std::optional<std::string> find(std::string_view name) const;
  /// Returns all names that can be used here, for hints.
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
