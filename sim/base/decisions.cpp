// A list without duplicates, with a hash index beside it.
#include "sim/base/decisions.hpp"

#include <algorithm>
#include <functional>

namespace foretrain {

namespace {

std::size_t hash_of(const Decision& decision) {
  const std::hash<std::string> hash;
  return (hash(decision.subject) * 31 + hash(decision.choice)) * 31 + hash(decision.why);
}

}  // namespace

void Decisions::add(std::string subject, std::string choice, std::string why) {
  Decision decision{std::move(subject), std::move(choice), std::move(why)};
  const std::size_t hash = hash_of(decision);
  // Equal hashes are possible, so the decisions themselves are compared.
  const auto [begin, end] = places_.equal_range(hash);
  if (std::any_of(begin, end, [&](const auto& place) { return list_[place.second] == decision; })) return;
  places_.emplace(hash, list_.size());
  list_.push_back(std::move(decision));
}

void Decisions::add(const Decisions& others) {
  for (const Decision& decision : others.list_) add(decision.subject, decision.choice, decision.why);
}

}  // namespace foretrain
