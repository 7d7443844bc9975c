// Decisions: what the planner chose and why, for `--explain`.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace foretrain {

/// A choice with its reason, as in {"all_reduce 25 MiB", "ring, Simple", "LL would take 3.1 ms, LL128 is off
/// on PCIe"}.
struct Decision {
  std::string subject;
  std::string choice;
  std::string why;
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// A list of decisions in the order in which they were made. An equal decision is kept once.
class Decisions {
 public:
  /// Appends a decision unless the list has an equal one. O(1) on average.
  void add(std::string subject, std::string choice, std::string why);
  /// Appends each decision of `others` that the list does not have.
  void add(const Decisions& others);
  const std::vector<Decision>& list() const { return list_; }
  friend bool operator==(const Decisions& a, const Decisions& b) { return a.list_ == b.list_; }

 private:
  std::vector<Decision> list_;
  /// Indices into the list, by hash, because plans of many messages have many decisions.
  std::unordered_multimap<std::size_t, std::size_t> places_;
};

}  // namespace foretrain
