// Versions and names of frameworks, and what changed between their versions.
#include "sim/workload/framework.hpp"

#include <charconv>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Takes a number of up to four digits from the front.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > 9999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

}  // namespace

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
  if (kind == FrameworkKind::tensorflow) framework.version = {2, 15};
  return framework;
}

std::vector<Execution> executions_of(FrameworkKind kind) {
  if (kind == FrameworkKind::tensorflow) return {Execution::graph, Execution::eager, Execution::compiled};
  return {Execution::eager, Execution::compiled, Execution::cuda_graphs};
}

std::string_view name_of(FrameworkKind kind) {
  return kind == FrameworkKind::pytorch ? "pytorch" : "tensorflow";
}

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
  return fmt::format("{} {}", framework.kind == FrameworkKind::pytorch ? "PyTorch" : "TensorFlow",
                     to_text(framework.version));
}

bool products_default_to_tf32(const Framework& framework) {
  if (framework.kind == FrameworkKind::tensorflow) return framework.version >= FrameworkVersion{2, 4};
  return framework.version >= FrameworkVersion{1, 7} && framework.version <= FrameworkVersion{1, 11};
}

}  // namespace foretrain
