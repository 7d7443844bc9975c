// Versions and names of frameworks.
#include "sim/workload/framework.hpp"

#include <charconv>

#include <fmt/format.h>

#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// Takes a number of up to four digits from the front of the text; returns nothing when there is none.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > 9999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

}  // namespace

// A version needs two numbers; anything but blanks and quotes may follow the second one.
std::optional<FrameworkVersion> parse_framework_version(std::string_view text) {
  const std::optional<int> major = take_number(text);
  if (!major || text.empty() || text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  const std::optional<int> minor = take_number(text);
  if (!minor || (!text.empty() && text.find_first_of(" \t\"'") != std::string_view::npos))
    return std::nullopt;
  return FrameworkVersion{*major, *minor};
}

std::string to_text(FrameworkVersion version) { return fmt::format("{}.{}", version.major, version.minor); }

Framework usual_framework(FrameworkKind kind) {
  Framework framework;
  framework.kind = kind;
  framework.execution = executions_of(kind).front();
  framework.version = profile_of(kind).usual_version;
  return framework;
}

std::vector<Execution> executions_of(FrameworkKind kind) { return profile_of(kind).executions; }

std::string_view name_of(FrameworkKind kind) { return profile_of(kind).name; }

std::string_view name_of(Execution execution) {
  switch (execution) {
    case Execution::eager:
      return "eager";
    case Execution::graph:
      return "graph";
    case Execution::compiled:
      return "compiled";
    case Execution::cuda_graphs:
      return "cuda_graphs";
  }
  return "";
}

std::string title_of(const Framework& framework) {
  return fmt::format("{} {}", profile_of(framework).title, to_text(framework.version));
}

}  // namespace foretrain
