// Writes the layers of a network one by one. Blocks are taken from the catalog's families, so that an
// imported file and a name of the catalog give the same layers.
#include "sim/import/yolo/layers.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/model_families.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Replaces every occurrence; the search goes on behind what was put in.
void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::string blocks_of_family(std::string_view family) {
  for (const std::string& path : family_files(catalog_roots())) {
    if (std::filesystem::path(path).stem().string() != family || !text_file_refusal(path).empty()) continue;
    std::string text = read_text_file(path).text;
    // The blocks stand between the layers and the table of sizes.
    const std::size_t first = text.find("\n[blocks."), sizes = text.find("\n[sizes.");
    if (first == std::string::npos || sizes == std::string::npos || sizes < first) return "";
    // Both names of a block, its table and its uses, get the family in front.
    text = text.substr(first + 1, sizes - first);
    // Blocks of several families may have one name, so each gets its family in front.
    replace_all(text, "[blocks.", fmt::format("[blocks.{}_", family));
    replace_all(text, "block = \"", fmt::format("block = \"{}_", family));
    return text;
  }
  return "";
}

/// Returns the end of a layer's line: its name and, where it does not follow the line above, its input.
std::string YoloLayers::tail(std::string_view suffix) {
  std::string name = part_.empty() ? std::to_string(number_) : fmt::format("{}.{}", number_, part_);
  // Parts of a layer are named as in PyTorch: number, part, and module.
  if (!suffix.empty()) name += fmt::format(".{}", suffix);
  std::string out = fmt::format(", name = \"{}\"", name);
  if (!from_.empty()) out += fmt::format(", from = \"{}\"", from_);
  from_.clear();
  return out + " },\n";
}

/// A convolution in groups has no block in the catalog and is written as three layers.
void YoloLayers::conv(const YoloConv& conv) {
  if (conv.groups == 1)
    return block("yolov8", "conv",
                 fmt::format("out = {}, kernel = {}, stride = {}, padding = {}", conv.out, conv.kernel,
                             conv.stride, conv.padding));
  lines_ += fmt::format(
      "  {{ type = \"conv2d\", out = {}, kernel = {}, stride = {}, padding = {}, groups = {}, bias = "
      "false{}",
      conv.out, conv.kernel, conv.stride, conv.padding, conv.groups, tail("conv"));
  lines_ += "  { type = \"batch_norm\" },\n  { type = \"silu\", inplace = true },\n";
}

void YoloLayers::block(std::string_view family, std::string_view block, std::string_view with,
                       std::int64_t repeat) {
  families_.emplace(family);
  lines_ += fmt::format("  {{ type = \"block\", block = \"{}_{}\"{}, with = {{ {} }}{}", family, block,
                        repeat == 1 ? "" : fmt::format(", repeat = {}", repeat), with, tail());
}

void YoloLayers::plain(std::string_view keys) { lines_ += fmt::format("  {{ type = {}{}", keys, tail()); }

void YoloLayers::concat(const std::vector<std::string>& from) {
  lines_ += fmt::format("  {{ type = \"concat\", from = [\"{}\"] }},\n", fmt::join(from, "\", \""));
}

/// Adds a name to the line that was written last.
void YoloLayers::name_last(std::string_view name) {
  lines_.resize(lines_.rfind(" },\n"));
  lines_ += fmt::format(", as = \"{}\" }},\n", name);
}

void YoloLayers::losses(const std::vector<std::string>& heads) {
  for (const std::string& head : heads)
    lines_ += fmt::format("  {{ type = \"loss\", kind = \"bce\", from = \"{}\" }},\n", head);
}

/// Only families whose blocks were used are appended.
std::string YoloLayers::text(std::string_view title, Diagnostics& diagnostics) const {
  // Ultralytics trains with SGD and momentum; images have three channels.
  std::string out =
      fmt::format("description = \"{}\"\noptimizer = \"momentum\"\ninput = [3, {}, {}]\nlayers = [\n{}]\n",
                  title, side_, side_, lines_);
  for (const std::string& family : families_) {
    const std::string blocks = blocks_of_family(family);
    if (blocks.empty())
      diagnostics.report({},
                         fmt::format("the catalog has no family {}, whose blocks this network uses", family),
                         "set FORETRAIN_PATH to the folder that holds models/ and topologies/");
    out += "\n" + blocks;
  }
  return out;
}

}  // namespace foretrain
