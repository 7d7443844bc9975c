// Storage for options that only one kind of object has. The general type keeps them without knowing their
// types.
#pragma once

#include <any>

namespace foretrain {

/// A base class of objects whose kind is a row of a table, such as a layer or a fabric. The options of a kind
/// are a struct that stands beside that row. An object holds options of one kind at a time, found by their
/// type.
class HeldOptions {
 public:
  /// Returns the options of this type, or the defaults if edit() was never called for it. The reference is
  /// valid until edit() of another type.
  template <typename Options>
  const Options& get() const {
    static const Options kDefaults{};
    const auto* held = std::any_cast<Options>(&held_);
    return held == nullptr ? kDefaults : *held;
  }
  /// Returns the options of this type for writing. If the object held another type, they begin as defaults.
  template <typename Options>
  Options& edit() {
    if (std::any_cast<Options>(&held_) == nullptr) held_ = Options{};
    return *std::any_cast<Options>(&held_);
  }

 private:
  std::any held_{};
};

}  // namespace foretrain
