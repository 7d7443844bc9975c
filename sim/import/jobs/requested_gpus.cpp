// A type is taken for the site's own word first, and for the name of a product where the site has no such
// word.
#include "sim/import/jobs/requested_gpus.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

/// Returns letters and digits in lower case, without the names of makers and series.
std::string bare_product(std::string_view name) {
  std::string out;
  for (const char c : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  }
  for (const std::string_view word : {"nvidia", "amd", "tesla", "quadro", "geforce", "instinct"}) {
    if (const std::size_t at = out.find(word); at != std::string::npos) out.erase(at, word.size());
  }
  return out;
}

/// Returns the mistake that a word names another GPU than the cluster's; no value for words of the site's
/// own.
std::optional<WrongGpu> wrong_name(const Found<std::string>& word, std::string_view what,
                                   const ClusterSpec& cluster) {
  const std::vector<std::string> known = names_in(CatalogKind::gpus);
  const bool is_gpu =
      std::ranges::any_of(known, [&](const std::string& name) { return names_product(word.value, name); });
  if (!is_gpu || names_product(word.value, cluster.node.gpu.name)) return std::nullopt;
  return WrongGpu{word.span,
                  fmt::format("{} {} asks for another GPU than those of {}, which are {}", what, word.value,
                              cluster.name, cluster.node.gpu.name),
                  "--cluster for the cluster that has them"};
}

/// Returns the mistake in a type of GPU. Slurm refuses a type that the site does not have; elsewhere only a
/// product's name can be wrong.
std::optional<WrongGpu> wrong_type(const Found<std::string>& type, const JobScript& script,
                                   const ClusterSpec& cluster) {
  const std::string& own = cluster.site.gpu_type;
  if (is_gpu_of_type(type.value, own)) return std::nullopt;
  // The site has no word of its own, or the batch system does not check types.
  if (own.empty() || script.system != BatchSystem::slurm) return wrong_name(type, "type", cluster);
  if (names_product(type.value, cluster.node.gpu.name)) return std::nullopt;
  return WrongGpu{type.span,
                  fmt::format("GPUs of type {} are asked for, but {} has {} (type {})", type.value,
                              cluster.name, cluster.node.gpu.name, own),
                  fmt::format("--gres=gpu:{}:N, or --cluster for the cluster that has them", own)};
}

}  // namespace

bool is_gpu_of_type(std::string_view asked, std::string_view own) {
  const std::string a = lower_case(asked), b = lower_case(own);
  return a == b || (!b.empty() && is_slice(a) && a.starts_with(b + "_"));
}

bool names_product(std::string_view word, std::string_view product) {
  const std::string a = bare_product(word), b = bare_product(product);
  // Names such as "t4" have at least two characters.
  constexpr std::size_t kShortest = 2;
  const bool has_digit = std::ranges::any_of(a, [](char c) { return c >= '0' && c <= '9'; });
  if (a.size() < kShortest || !has_digit || std::isdigit(static_cast<unsigned char>(a[0])) != 0) return false;
  if (!b.starts_with(a)) return false;
  // A name may be shortened only where a part ends: "a10" is no beginning of "a100".
  return a.size() == b.size() || std::isdigit(static_cast<unsigned char>(b[a.size()])) == 0 ||
         std::isdigit(static_cast<unsigned char>(a.back())) == 0;
}

std::vector<WrongGpu> wrong_gpus(const JobScript& script, const ClusterSpec& cluster) {
  std::vector<WrongGpu> out;
  const auto add = [&](std::optional<WrongGpu> wrong) {
    if (wrong) out.push_back(*std::move(wrong));
  };
  const std::optional<Found<std::string>>& type = script.request.gpu_type;
  if (type) add(wrong_type(*type, script, cluster));
  for (const Found<std::string>& feature : script.request.constraints) {
    const bool is_own =
        std::ranges::find(cluster.site.constraints, feature.value) != cluster.site.constraints.end();
    if (!is_own) add(wrong_name(feature, "constraint", cluster));
  }
  return out;
}

}  // namespace foretrain
