// A name counts if read_software() understands it, such as "pytorch:24.01-py3" or "torch==2.1". Nothing is
// looked up on the machine.
#include "sim/import/jobs/named_software.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/import/launch_reader.hpp"
#include "sim/scenario/sections/software_era.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Says whether a text names software that is known.
bool names_software(std::string_view text) {
  return read_software(text, FrameworkKind::pytorch).stack.has_value();
}

/// Says whether a command loads or installs software.
bool loads_software(std::string_view command) {
  constexpr std::array<std::string_view, 6> kLoaders{"module", "ml", "spack", "pip", "pip3", "uv"};
  return std::ranges::find(kLoaders, base_name(command)) != kLoaders.end();
}

/// Returns the image in --container-image=IMAGE or --image=IMAGE, or the word itself if it is a file or an
/// address of an image; empty for other words.
std::string_view image_in(std::string_view word, std::string_view before) {
  for (const std::string_view option : {"--container-image", "--image"}) {
    if (before == option) return word;
    if (word.starts_with(option) && word.substr(option.size()).starts_with("="))
      return word.substr(option.size() + 1);
  }
  const bool is_image = word.ends_with(".sif") || word.ends_with(".sqsh") || word.starts_with("docker://") ||
                        word.starts_with("nvcr.io");
  return is_image ? word : std::string_view();
}

}  // namespace

// The last part of the path is preferred, as folders may have misleading names.
Field<std::string> software_of_image(const std::string& image, const SourceSpan& span) {
  if (!names_software(base_name(image)) && !names_software(image)) return {};
  return Found<std::string>{names_software(base_name(image)) ? std::string(base_name(image)) : image, span};
}

Field<std::string> software_in(const std::vector<ShellCommand>& commands) {
  Field<std::string> loaded, image;
  for (const ShellCommand& command : commands) {
    // Commands in branches that may not be taken tell nothing.
    if (!command.certain || command.words.empty()) continue;
    // A word of `module load` or `pip install` counts only behind such a command; an image counts anywhere.
    const bool loads = loads_software(command.words[0].text);
    for (std::size_t i = 1; i < command.words.size(); ++i) {
      const ShellWord& word = command.words[i];
      if (!word.known) continue;
      if (loads && names_software(word.text)) loaded = {word.text, word.span};
      const std::string_view named = image_in(word.text, command.words[i - 1].text);
      if (named.empty()) continue;
      if (auto found = software_of_image(std::string(named), word.span)) image = std::move(found);
    }
  }
  return image ? image : loaded;
}

Field<std::string> software_for(const std::string& strategy, const JobScript& script) {
  const StrategyEntry* entry = find_strategy(strategy);
  // Strategies without a framework of their own are PyTorch's.
  const FrameworkKind own =
      entry == nullptr ? FrameworkKind::pytorch : entry->framework.value_or(FrameworkKind::pytorch);
  if (!script.software) return {};
  const SoftwareReading read = read_software(script.software->value, own);
  return read.stack && read.stack->framework == own ? script.software : std::nullopt;
}

}  // namespace foretrain
