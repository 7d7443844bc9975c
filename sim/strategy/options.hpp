// What strategies can be told: values of their options, each kept under its own type, and the rows by which
// scenario files and reference pages know them.
#pragma once

#include <any>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// The options of a job, of whatever strategies. Every strategy (or family of them) has an options type: a
/// struct whose initializers are the framework's own defaults, and empty where these depend on its version or
/// on the job. It stands with the strategy; nothing here, and no other strategy, knows it.
class StrategyOptions {
 public:
  int accumulation = 1;  ///< micro-steps per optimizer step, whatever the strategy

  /// Defaults where edit() was never asked for them. The reference stays valid as long as this object; what
  /// was found before the first edit() remains the defaults.
  template <typename Options>
  const Options& get() const {
    static const Options kDefaults{};
    const auto found = held_.find(typeid(Options));
    return found == held_.end() ? kDefaults : *std::any_cast<Options>(&found->second);
  }
  template <typename Options>
  Options& edit() {
    const auto held = held_.try_emplace(typeid(Options), Options{}).first;
    return *std::any_cast<Options>(&held->second);
  }

 private:
  std::map<std::type_index, std::any> held_;  ///< under a type only values of this type
};

/// An option that takes one value, and what puts it into its place.
template <typename Value>
struct KnobValue {
  void (*put)(StrategyOptions&, Value);
};

/// Names of a choice and how the i-th one is taken.
struct KnobChoice {
  std::vector<std::string_view> names;
  void (*take)(StrategyOptions&, std::size_t);
};

/// One option as a scenario file may set it.
struct Knob {
  std::string_view name;  ///< key in [strategy]
  std::variant<KnobValue<Bytes>, KnobValue<Time>, KnobValue<int>, KnobValue<std::int64_t>, KnobValue<double>,
               KnobValue<bool>, KnobValue<FrameworkVersion>, KnobChoice>
      value;
  std::string_view example;   ///< a value, as TOML
  std::string_view fallback;  ///< what holds when the key is missing, in words
  std::string_view meaning;
  double least = 0, most = std::numeric_limits<double>::max();  ///< of a number (bytes, seconds)
};

/// Of a pointer to a member: whose it is, and what it takes (of an optional: what it holds).
template <typename Member>
struct OptionMember;
template <typename T, typename O>
struct OptionMember<T O::*> {
  using Options = O;
  using Value = T;
};
template <typename T, typename O>
struct OptionMember<std::optional<T> O::*> {
  using Options = O;
  using Value = T;
};

/// The option behind a member of an options type, as in option<&DdpOptions::bucket_cap>().
template <auto Member>
auto option() {
  using Of = OptionMember<decltype(Member)>;
  return KnobValue<typename Of::Value>{[](StrategyOptions& options, typename Of::Value value) {
    options.edit<typename Of::Options>().*Member = value;
  }};
}

/// A choice between the values 0, 1, … of the enum behind `Member`, or of the optional enum.
template <auto Member>
KnobChoice choice_of(std::vector<std::string_view> names) {
  using Of = OptionMember<decltype(Member)>;
  return {std::move(names), [](StrategyOptions& options, std::size_t i) {
            options.edit<typename Of::Options>().*Member = static_cast<typename Of::Value>(i);
          }};
}

}  // namespace foretrain
