// Options that only one kind of thing has, kept in the general type without its knowing them.
#pragma once

#include <any>

namespace foretrain {

/// A base of types whose kind is told by a row of a table: a layer, a fabric. What only its kind has is a
/// struct beside that row, which this holds by its type; a thing has options of one kind at a time.
class HeldOptions {
 public:
  /// Defaults where edit() was never asked for them. The reference stays valid until edit() of another kind.
  template <typename Options>
  const Options& get() const {
    static const Options kDefaults{};
    const auto* held = std::any_cast<Options>(&held_);
    return held == nullptr ? kDefaults : *held;
  }
  template <typename Options>
  Options& edit() {
    if (std::any_cast<Options>(&held_) == nullptr) held_ = Options{};
    return *std::any_cast<Options>(&held_);
  }

 private:
  std::any held_{};
};

}  // namespace foretrain
