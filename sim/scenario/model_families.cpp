// Families of models. Only the lines with names are read: [sizes.NAME] and `also = [...]`. The reader of
// models checks the rest.
#include "sim/scenario/model_families.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/base/ascii.hpp"
#include "sim/scenario/toml/packed_files.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSizeHeader = "[sizes.", kAlso = "also = [";

/// Adds all texts in quotes of a line.
void add_quoted(std::string_view line, std::vector<std::string>& out) {
  for (std::size_t open = line.find('"'); open != std::string_view::npos;) {
    const std::size_t close = line.find('"', open + 1);
    if (close == std::string_view::npos) return;
    out.emplace_back(line.substr(open + 1, close - open - 1));
    open = line.find('"', close + 1);
  }
}

/// Adds the sizes of one file, by a scan of its lines; a file that cannot be read is skipped.
void add_sizes(const std::string& path, std::vector<FamilySize>& out) {
  if (!text_file_refusal(path).empty()) return;
  const std::string text = read_text_file(path).text;
  const std::size_t first = out.size();
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t close = line.find(']');
    if (line.starts_with(kSizeHeader) && close != std::string_view::npos)
      out.push_back({path, std::string(line.substr(kSizeHeader.size(), close - kSizeHeader.size())), {}});
    else if (line.starts_with(kAlso) && out.size() > first)
      add_quoted(line, out.back().also);
  }
}

/// Returns a name without one ending that stands for another training of the same network.
std::string without_ending(const std::string& name) {
  for (const std::string_view ending :
       {"-instruct", "-chat", "-it", "-hf", "-bnb-4bit", "-unsloth", "-gptq", "-awq", "-sft", "-dpo"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  const std::size_t version = name.rfind("-v");
  const bool is_version = version != std::string::npos && version + 2 < name.size() &&
                          name.find_first_not_of("0123456789.", version + 2) == std::string::npos;
  return is_version ? name.substr(0, version) : name;
}

}  // namespace

std::vector<std::string> family_files(const std::vector<std::string>& roots) {
  std::vector<std::string> out;
  for (const std::string& root : roots) {
    std::vector<std::string> files = files_in((fs::path(root) / "models" / "families").string(), ".toml");
    std::ranges::sort(files);
    out.insert(out.end(), files.begin(), files.end());
  }
  return out;
}

std::vector<FamilySize> family_sizes(const std::vector<std::string>& roots) {
  std::vector<FamilySize> out;
  for (const std::string& file : family_files(roots)) add_sizes(file, out);
  return out;
}

std::string plain_model_name(const std::vector<std::string>& roots, std::string_view name) {
  if (name.rfind('/') != name.npos) name.remove_prefix(name.rfind('/') + 1);
  std::string plain = lower_case(name);
  // Names may have several endings, such as "-v0.1-hf".
  for (std::string next = without_ending(plain); next != plain; next = without_ending(plain)) plain = next;
  for (const std::string& root : roots) {
    const std::string path = (fs::path(root) / "models" / "names.csv").string();
    if (!text_file_refusal(path).empty()) continue;
    const std::string text = read_text_file(path).text;
    const std::size_t line = text.find("\n" + plain + ",");
    if (line == std::string::npos) continue;
    const std::size_t begin = line + plain.size() + 2, end = std::min(text.find('\n', begin), text.size());
    return text.substr(begin, end - begin);
  }
  return plain;
}

std::optional<FamilySize> find_family_size(const std::vector<std::string>& roots, std::string_view name) {
  for (FamilySize& size : family_sizes(roots)) {
    if (size.name == name || std::ranges::find(size.also, name) != size.also.end()) return std::move(size);
  }
  return std::nullopt;
}

}  // namespace foretrain
