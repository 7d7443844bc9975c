// Keeping decisions in order, each once.
#include "sim/base/decisions.hpp"

#include <algorithm>

namespace foretrain {

void Decisions::add(std::string subject, std::string choice, std::string why) {
  Decision decision{std::move(subject), std::move(choice), std::move(why)};
  if (std::find(list_.begin(), list_.end(), decision) == list_.end()) list_.push_back(std::move(decision));
}

void Decisions::add(const Decisions& others) {
  for (const Decision& decision : others.list_) add(decision.subject, decision.choice, decision.why);
}

}  // namespace foretrain
