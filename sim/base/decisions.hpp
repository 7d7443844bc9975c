// Decisions: what the planner chose and why, for `--explain`.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace foretrain {

/// One choice, as in {"all_reduce 25 MiB", "ring, Simple", "LL would take 3.1 ms, LL128 is off on PCIe"}.
struct Decision {
  std::string subject;
  std::string choice;
  std::string why;
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// In the order they were taken; the same decision is kept once.
class Decisions {
 public:
  void add(std::string subject, std::string choice, std::string why);
  void add(const Decisions& others);
  const std::vector<Decision>& list() const { return list_; }
  friend bool operator==(const Decisions& a, const Decisions& b) { return a.list_ == b.list_; }

 private:
  std::vector<Decision> list_;
  /// In the list, by hash: plans of many messages have many decisions.
  std::unordered_multimap<std::size_t, std::size_t> places_;
};

}  // namespace foretrain
