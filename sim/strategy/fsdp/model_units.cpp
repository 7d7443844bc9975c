// Division of a network into FSDP's units. Layers are first given a group each (a block's path, or a run of
// enough elements); groups without parameters join the root.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/workload/lowering/weight_shapes.hpp"

namespace foretrain {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Returns the path of the block that a layer is in; empty when it is in none.
std::string block_of(const std::string& path, const std::set<std::string>& layers) {
  const std::size_t dot = path.find('.');
  const std::string first = path.substr(0, dot);
  if (dot == std::string::npos || layers.contains(first)) return {};
  const std::size_t next = path.find('.', dot + 1);
  const std::string second = path.substr(dot + 1, next == std::string::npos ? next : next - dot - 1);
  return is_number(second) && next != std::string::npos ? path.substr(0, next) : first;
}

/// Returns the block in a recorded network, whose paths are those of its modules: up to the first number with
/// modules below it, "model.layers.7" for "model.layers.7.mlp.up_proj". Layers in no numbered module are the
/// root's.
std::string numbered_module_of(const std::string& path) {
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t dot = path.find('.', begin);
    if (dot == std::string::npos) return {};
    if (begin > 0 && is_number(path.substr(begin, dot - begin))) return path.substr(0, dot);
    begin = dot + 1;
  }
  return {};
}

/// Returns the elements of each layer, parameters without gradient included.
std::vector<std::int64_t> elements_by_layer(const ExpandedModel& model) {
  std::vector<std::int64_t> elements(model.layer_names.size(), 0);
  for (const Parameter& parameter : model.parameters) elements[parameter.layer] += parameter.elements;
  for (const Parameter& parameter : model.frozen) elements[parameter.layer] += parameter.elements;
  return elements;
}

/// Collects layers into units. `groups` has the name of each layer's unit, empty for the root.
ModelUnits collect(const ExpandedModel& model, const std::vector<std::string>& groups) {
  const std::vector<std::int64_t> elements = elements_by_layer(model);
  std::map<std::string, std::int64_t> sizes;
  for (std::size_t layer = 0; layer < groups.size(); ++layer) sizes[groups[layer]] += elements[layer];
  ModelUnits units;
  units.units.push_back({.name = "root", .parameters = {}});
  // The root is unit 0; other units get numbers in the order of their first layer.
  std::map<std::string, std::uint32_t> index{{"", 0u}};
  for (const std::string& group : groups) {
    const bool joins_root = group.empty() || sizes[group] == 0;
    const auto [found, is_new] =
        index.try_emplace(group, joins_root ? 0u : static_cast<std::uint32_t>(units.units.size()));
    if (is_new && !joins_root) units.units.push_back({.name = group, .parameters = {}});
    units.of_layer.push_back(found->second);
  }
  for (std::uint32_t i = 0; i < model.parameters.size(); ++i) {
    const Parameter& parameter = model.parameters[i];
    units.of_parameter.push_back(units.of_layer[parameter.layer]);
    units.units[units.of_parameter.back()].parameters.push_back(i);
    units.units[units.of_parameter.back()].elements += parameter.elements;
  }
  // Packed weights are sent as tensors of 16 bits (quant_storage).
  constexpr std::int64_t kNarrowBytes = 2;
  for (const Parameter& parameter : model.frozen)
    units.units[units.of_layer[parameter.layer]].frozen +=
        is_quantised(parameter.packed) ? parameter.bytes() / kNarrowBytes : parameter.elements;
  return units;
}

std::vector<std::string> block_of_layers(const ExpandedModel& model) {
  const std::set<std::string> layers(model.layer_names.begin(), model.layer_names.end());
  std::vector<std::string> groups;
  for (const std::string& path : model.layer_names)
    groups.push_back(model.recording ? numbered_module_of(path) : block_of(path, layers));
  return groups;
}

constexpr std::string_view kFront = "in front of blocks", kBehind = "behind blocks", kHead = "head";

}  // namespace

std::int64_t ModelUnits::largest() const {
  std::int64_t most = 0;
  for (std::size_t i = 1; i < units.size(); ++i) most = std::max(most, units[i].elements);
  return most;
}

ModelUnits units_by_block(const ExpandedModel& model) { return collect(model, block_of_layers(model)); }

ModelUnits units_with_ends(const ExpandedModel& model, bool chunks) {
  std::vector<std::string> groups = block_of_layers(model);
  const auto is_block = [](const std::string& group) { return !group.empty(); };
  const auto first = std::ranges::find_if(groups, is_block);
  if (first == groups.end()) return collect(model, groups);
  const auto last = std::find_if(groups.rbegin(), groups.rend(), is_block).base();
  std::replace(groups.begin(), first, std::string(), std::string(kFront));
  std::replace(last, groups.end(), std::string(), std::string(kBehind));
  const std::vector<std::int64_t> elements = elements_by_layer(model);
  const auto behind = static_cast<std::ptrdiff_t>(last - groups.begin());
  // The head is the largest layer behind the blocks.
  const auto head = std::max_element(elements.begin() + behind, elements.end()) - elements.begin();
  if (chunks) std::fill(groups.begin() + head, groups.end(), std::string(kHead));
  ModelUnits units = collect(model, groups);
  for (ModelUnit& unit : units.units) {
    if (unit.name == kHead) unit.reshard = Reshard::never, unit.prefetches = false;
    if (unit.name == kBehind) unit.reshard = chunks ? Reshard::always : Reshard::never;
  }
  return units;
}

void pad_units(ModelUnits& units, const ExpandedModel& model, const FsdpSettings& settings) {
  const std::vector<MatrixShape> shapes = matrix_shapes(model);
  for (ModelUnit& unit : units.units) {
    unit.reduced = settings.per_parameter ? 0 : settings.padded(unit.elements);
    for (const std::uint32_t parameter :
         settings.per_parameter ? unit.parameters : std::vector<std::uint32_t>{})
      unit.reduced += settings.padded(model.parameters[parameter].elements, shapes[parameter].rows);
    unit.gathered =
        settings.per_parameter ? unit.reduced + settings.padded(unit.frozen) : settings.padded(unit.held());
  }
  // A chunked loss gathers the norm in front of the head together with the head.
  const auto behind = std::ranges::find(units.units, kBehind, &ModelUnit::name);
  const auto head = std::ranges::find(units.units, kHead, &ModelUnit::name);
  if (behind == units.units.end() || head == units.units.end()) return;
  behind->gathered = head->gathered = behind->gathered + head->gathered;
}

ModelUnits units_by_size(const ExpandedModel& model, std::int64_t least) {
  const std::vector<std::int64_t> elements = elements_by_layer(model);
  std::vector<std::string> groups(elements.size());
  std::size_t first = 0;
  std::int64_t held = 0;
  for (std::size_t layer = 0; layer < elements.size(); ++layer) {
    held += elements[layer];
    // The unit is closed with the layer that reaches the limit.
    if (held < least) continue;
    std::fill(groups.begin() + static_cast<std::ptrdiff_t>(first),
              groups.begin() + static_cast<std::ptrdiff_t>(layer) + 1, "from " + model.layer_names[first]);
    first = layer + 1;
    held = 0;
  }
  return collect(model, groups);
}

}  // namespace foretrain
