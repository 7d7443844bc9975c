// Writes the lines of a network as a model file.
//
// A layer of a model file takes the result of the line above it unless `from` names another one. So `from` is
// written only where the order does not say it, and `as` only for results that somebody names. The first
// needed input is the network's own. It has no line, so a view (a reshape) gives it a name where one is
// needed; ids start anew by a layer of type "start".
#include "sim/import/models/network_sketch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Returns the name of a result in the file, such as "r17".
std::string name_of_result(std::size_t result) { return fmt::format("r{}", result); }

}  // namespace

std::string list_text(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// An input that is not the first needed one becomes a layer of type "start".
NetworkSketch::Result NetworkSketch::input(Sizes sizes, bool tokens) {
  std::string body =
      fmt::format("type = \"start\", input = {}{}", list_text(sizes), tokens ? ", tokens = true" : "");
  lines_.push_back({std::move(body), {}, std::move(sizes), true, tokens, false});
  return lines_.size() - 1;
}

NetworkSketch::Result NetworkSketch::add(std::string body, std::vector<Result> inputs, Sizes sizes) {
  lines_.push_back({std::move(body), std::move(inputs), std::move(sizes), false, false, false});
  return lines_.size() - 1;
}

NetworkSketch::Result NetworkSketch::reshaped(Result from, const Sizes& sizes) {
  if (lines_[from].sizes == sizes) return from;
  return add(fmt::format("type = \"reshape\", shape = {}", list_text(sizes)), {from}, sizes);
}

void NetworkSketch::loss(Result of, const std::string& kind) {
  const std::string kinds = kind.empty() ? "" : fmt::format(", kind = \"{}\"", kind);
  lines_.push_back({fmt::format("type = \"loss\"{}", kinds), {of}, {}, false, false, true});
}

/// Walks backwards: inputs of a result stand before it, so one pass finds everything that a loss needs.
std::vector<bool> NetworkSketch::needed() const {
  std::vector<bool> out(lines_.size(), false);
  for (std::size_t i = lines_.size(); i-- > 0;) {
    out[i] = out[i] || lines_[i].is_loss;
    if (!out[i]) continue;
    for (const Result input : lines_[i].inputs) out[input] = true;
  }
  return out;
}

/// Results that lead to no loss are left out, so unused branches of a graph cost nothing.
std::string NetworkSketch::text(const std::string& description) const {
  const std::vector<bool> is_needed = needed();
  std::vector<Result> order, losses;
  std::vector<int> uses(lines_.size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!is_needed[i]) continue;
    (lines_[i].is_loss ? losses : order).push_back(i);
    for (const Result input : lines_[i].inputs) ++uses[input];
  }
  // The network's own input first, then layers in their order, losses last.
  const auto first = std::find_if(order.begin(), order.end(), [&](Result i) { return lines_[i].is_input; });
  std::rotate(order.begin(), first, first + 1);
  order.insert(order.end(), losses.begin(), losses.end());
  const Line& own = lines_[order.front()];
  // A result needs a name where a line with several inputs, or a line that does not follow it, takes it.
  std::vector<bool> named(lines_.size(), false);
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Line& line = lines_[order[k]];
    for (const Result input : line.inputs)
      if (line.inputs.size() > 1 || input != order[k - 1]) named[input] = true;
  }
  std::string out = fmt::format("description = \"{}\"\ninput = {}\n{}layers = [\n", description,
                                list_text(own.sizes), own.tokens ? "input_is_tokens = true\n" : "");
  if (named[order.front()] && !own.tokens)
    out += fmt::format("  {{ type = \"reshape\", shape = {}, as = \"{}\" }},\n", list_text(own.sizes),
                       name_of_result(order.front()));
  if (named[order.front()] && own.tokens)
    out += fmt::format("  {{ {}, as = \"{}\" }},\n", own.body, name_of_result(order.front()));
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Line& line = lines_[order[k]];
    std::string names;
    if (line.inputs.size() > 1) {
      for (const Result input : line.inputs)
        names += fmt::format("{}\"{}\"", names.empty() ? ", from = [" : ", ", name_of_result(input));
      names += "]";
    } else if (!line.inputs.empty() && line.inputs[0] != order[k - 1]) {
      names = fmt::format(", from = \"{}\"", name_of_result(line.inputs[0]));
    }
    if (named[order[k]]) names += fmt::format(", as = \"{}\"", name_of_result(order[k]));
    out += fmt::format("  {{ {}{} }},\n", line.body, names);
  }
  return out + "]\n";
}

}  // namespace foretrain
