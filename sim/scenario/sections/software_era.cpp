// Tables of releases: PyTorch's binaries by torch.cuda.nccl.version() and torch.version.cuda, NVIDIA's
// containers by its support matrix of frameworks. Dates and containers are unverified (from memory).
#include "sim/scenario/sections/software_era.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

struct Month {
  int year = 0, month = 0;
  friend auto operator<=>(const Month&, const Month&) = default;
};

struct BundledNccl {
  FrameworkVersion first;
  nccl::Version nccl;
};

constexpr std::array<BundledNccl, 12> kPyTorchNccl{{{{1, 0}, {2, 3, 7}},
                                                    {{1, 1}, {2, 4, 2}},
                                                    {{1, 2}, {2, 4, 8}},
                                                    {{1, 7}, {2, 7, 8}},
                                                    {{1, 10}, {2, 10, 3}},
                                                    {{1, 13}, {2, 14, 3}},
                                                    {{2, 1}, {2, 18, 1}},
                                                    {{2, 2}, {2, 19, 3}},
                                                    {{2, 3}, {2, 20, 5}},
                                                    {{2, 5}, {2, 21, 5}},
                                                    {{2, 7}, {2, 26, 2}},
                                                    {{2, 8}, {2, 27, 5}}}};

/// A toolkit, from that version of PyTorch on.
struct BundledCuda {
  FrameworkVersion first, cuda;
};

/// What `pip install torch` brings.
constexpr std::array<BundledCuda, 8> kPyTorchCuda{{{{1, 0}, {9, 0}},
                                                   {{1, 3}, {10, 1}},
                                                   {{1, 5}, {10, 2}},
                                                   {{1, 13}, {11, 7}},
                                                   {{2, 1}, {12, 1}},
                                                   {{2, 5}, {12, 4}},
                                                   {{2, 7}, {12, 6}},
                                                   {{2, 8}, {12, 8}}}};

/// TensorFlow 1.8 is of April 2018, when NCCL 2.1 was current, 1.13 of February 2019.
constexpr std::array<BundledNccl, 3> kTensorFlowNccl{
    {{{1, 0}, {2, 1, 15}}, {{1, 12}, {2, 3, 5}}, {{2, 0}, {2, 4, 8}}}};
/// Later TensorFlows are built with what their container has.
constexpr FrameworkVersion kUnlisted{2, 3};

nccl::Version newest_up_to(std::span<const BundledNccl> releases, const FrameworkVersion& version) {
  const auto after =
      std::ranges::find_if(releases, [&](const BundledNccl& release) { return release.first > version; });
  return after == releases.begin() ? after->nccl : std::prev(after)->nccl;
}

/// When a minor version came out.
struct Release {
  Month date;
  FrameworkVersion version;
};

constexpr Release kPyTorch[] = {
    {{2017, 1}, {0, 1}},  {{2017, 8}, {0, 2}},   {{2017, 12}, {0, 3}},  {{2018, 4}, {0, 4}},
    {{2018, 12}, {1, 0}}, {{2019, 5}, {1, 1}},   {{2019, 8}, {1, 2}},   {{2019, 10}, {1, 3}},
    {{2020, 1}, {1, 4}},  {{2020, 4}, {1, 5}},   {{2020, 7}, {1, 6}},   {{2020, 10}, {1, 7}},
    {{2021, 3}, {1, 8}},  {{2021, 6}, {1, 9}},   {{2021, 10}, {1, 10}}, {{2022, 3}, {1, 11}},
    {{2022, 6}, {1, 12}}, {{2022, 10}, {1, 13}}, {{2023, 3}, {2, 0}},   {{2023, 10}, {2, 1}},
    {{2024, 1}, {2, 2}},  {{2024, 4}, {2, 3}},   {{2024, 7}, {2, 4}},   {{2024, 10}, {2, 5}},
    {{2025, 1}, {2, 6}},  {{2025, 4}, {2, 7}},   {{2025, 8}, {2, 8}},   {{2025, 10}, {2, 9}}};

constexpr Release kTensorFlow[] = {
    {{2017, 2}, {1, 0}},   {{2017, 6}, {1, 2}},   {{2017, 11}, {1, 4}},  {{2018, 4}, {1, 8}},
    {{2018, 11}, {1, 12}}, {{2019, 2}, {1, 13}},  {{2019, 6}, {1, 14}},  {{2019, 10}, {2, 0}},
    {{2020, 1}, {2, 1}},   {{2020, 5}, {2, 2}},   {{2020, 7}, {2, 3}},   {{2020, 12}, {2, 4}},
    {{2021, 5}, {2, 5}},   {{2021, 8}, {2, 6}},   {{2021, 11}, {2, 7}},  {{2022, 2}, {2, 8}},
    {{2022, 5}, {2, 9}},   {{2022, 9}, {2, 10}},  {{2022, 11}, {2, 11}}, {{2023, 3}, {2, 12}},
    {{2023, 7}, {2, 13}},  {{2023, 9}, {2, 14}},  {{2023, 11}, {2, 15}}, {{2024, 3}, {2, 16}},
    {{2024, 7}, {2, 17}},  {{2024, 10}, {2, 18}}, {{2025, 3}, {2, 19}}};

/// NVIDIA's containers of a month and those after it, up to the next row.
struct Container {
  Month date;
  FrameworkVersion pytorch, tensorflow;
  nccl::Version nccl;
  FrameworkVersion cuda;
};

constexpr Container kContainers[] = {
    {{2019, 1}, {1, 0}, {1, 12}, {2, 3, 7}, {10, 0}},   {{2019, 6}, {1, 1}, {1, 13}, {2, 4, 6}, {10, 1}},
    {{2019, 10}, {1, 3}, {1, 14}, {2, 4, 8}, {10, 1}},  {{2020, 1}, {1, 4}, {2, 0}, {2, 5, 6}, {10, 2}},
    {{2020, 3}, {1, 5}, {2, 1}, {2, 6, 3}, {10, 2}},    {{2020, 6}, {1, 6}, {2, 2}, {2, 7, 5}, {11, 0}},
    {{2020, 8}, {1, 7}, {2, 2}, {2, 7, 8}, {11, 0}},    {{2020, 12}, {1, 8}, {2, 3}, {2, 8, 3}, {11, 1}},
    {{2021, 3}, {1, 9}, {2, 4}, {2, 8, 4}, {11, 2}},    {{2021, 5}, {1, 9}, {2, 4}, {2, 9, 9}, {11, 3}},
    {{2021, 7}, {1, 10}, {2, 5}, {2, 10, 3}, {11, 4}},  {{2021, 10}, {1, 10}, {2, 6}, {2, 11, 4}, {11, 4}},
    {{2022, 3}, {1, 12}, {2, 8}, {2, 12, 9}, {11, 6}},  {{2022, 7}, {1, 13}, {2, 9}, {2, 12, 12}, {11, 7}},
    {{2022, 9}, {1, 13}, {2, 9}, {2, 15, 1}, {11, 8}},  {{2023, 1}, {1, 13}, {2, 11}, {2, 16, 5}, {12, 0}},
    {{2023, 3}, {2, 0}, {2, 11}, {2, 17, 1}, {12, 1}},  {{2023, 6}, {2, 1}, {2, 12}, {2, 18, 1}, {12, 1}},
    {{2023, 10}, {2, 1}, {2, 14}, {2, 19, 3}, {12, 2}}, {{2024, 1}, {2, 2}, {2, 14}, {2, 19, 4}, {12, 3}},
    {{2024, 3}, {2, 3}, {2, 15}, {2, 20, 5}, {12, 4}},  {{2024, 4}, {2, 3}, {2, 15}, {2, 21, 5}, {12, 4}},
    {{2024, 7}, {2, 4}, {2, 16}, {2, 22, 3}, {12, 5}},  {{2024, 11}, {2, 6}, {2, 17}, {2, 23, 4}, {12, 6}},
    {{2025, 1}, {2, 6}, {2, 17}, {2, 25, 1}, {12, 8}},  {{2025, 4}, {2, 7}, {2, 17}, {2, 26, 3}, {12, 9}},
    {{2025, 6}, {2, 8}, {2, 17}, {2, 27, 3}, {12, 9}},  {{2025, 9}, {2, 9}, {2, 17}, {2, 27, 7}, {13, 0}}};

/// Years that a stack may be of.
constexpr Month kFirst{2017, 2}, kAfterLast{2031, 1};

/// The last minor version of each major one; a future one may follow the last by kMostFutureMinors.
constexpr std::array kLastPyTorch{4, 13, 12}, kLastTensorFlow{12, 15, 20};
constexpr int kMostFutureMinors = 20;

template <class Row>
const Row& newest_of(std::span<const Row> rows, const Month& date) {
  const auto after = std::ranges::find_if(rows, [&](const Row& row) { return row.date > date; });
  return after == rows.begin() ? *after : *std::prev(after);
}

std::optional<int> number_of(std::string_view digits) {
  const bool is_number = !digits.empty() && digits.size() <= 4 &&
                         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional(std::stoi(std::string(digits))) : std::nullopt;
}

/// "2020" is its middle; "2020-10", "24.07".
std::optional<Month> month_of(std::string_view text) {
  const std::size_t cut = text.find_first_of("-.");
  const auto year = number_of(text.substr(0, cut));
  if (!year) return std::nullopt;
  if (cut == text.npos) return text.size() == 4 ? std::optional(Month{*year, 7}) : std::nullopt;
  const auto month = number_of(text.substr(cut + 1));
  if (!month || *month < 1 || *month > 12 || text.size() - cut != 3) return std::nullopt;
  return Month{*year < 100 ? *year + 2000 : *year, *month};
}

SoftwareReading of_month(const Month& date, FrameworkKind framework) {
  if (date < kFirst || date >= kAfterLast)
    return {std::nullopt, fmt::format("no software of {} is known", date.year),
            fmt::format("years from {} to {}", kFirst.year, kAfterLast.year - 1)};
  const bool is_pytorch = framework == FrameworkKind::pytorch;
  const FrameworkVersion version =
      newest_of(is_pytorch ? std::span<const Release>(kPyTorch) : std::span<const Release>(kTensorFlow), date)
          .version;
  Framework usual = usual_framework(framework);
  usual.version = version;
  return {SoftwareStack{framework, version, nccl_of(usual), cuda_of(usual)}};
}

SoftwareReading of_container(const Month& date, FrameworkKind framework) {
  if (date < kContainers[0].date || date >= kAfterLast)
    return {std::nullopt,
            fmt::format("no container {:02}.{:02} of NVIDIA is known", date.year % 100, date.month),
            "they begin with 19.01, as in ngc-24.07"};
  const Container& row = newest_of(std::span<const Container>(kContainers), date);
  return {SoftwareStack{framework, framework == FrameworkKind::pytorch ? row.pytorch : row.tensorflow,
                        row.nccl, row.cuda}};
}

/// Words of a module's, image's or file's name.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("/:_-+ ,@#=", at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<FrameworkKind> framework_named(std::string_view word) {
  if (word == "pytorch" || word == "torch") return FrameworkKind::pytorch;
  if (word == "tensorflow" || word == "tf") return FrameworkKind::tensorflow;
  return std::nullopt;
}

/// Words whose number is not the framework's.
bool names_another(std::string_view word) {
  constexpr std::array<std::string_view, 8> kOthers{"cuda", "cudnn", "python", "py",
                                                    "rocm", "foss",  "gcc",    "nccl"};
  return std::ranges::find(kOthers, word) != kOthers.end();
}

/// NVIDIA's containers have a year and a month of two digits each.
bool is_container(std::string_view word) {
  return word.size() == 5 && word[2] == '.' && word >= "17" && word < "31" && month_of(word).has_value();
}

/// "cu118" in a wheel's name is 11.8; "cuda11.6", "cuda/12.1", "CUDA-12.1.1".
std::optional<FrameworkVersion> cuda_named(std::string_view text) {
  const std::string lower = lower_case(std::string(text));
  bool is_next = false;
  for (std::string_view word : words_of(lower)) {
    if (is_next) return parse_framework_version(word);
    is_next = word == "cuda";
    if (word.starts_with("cuda") && word.size() > 4) return parse_framework_version(word.substr(4));
    if (word.starts_with("cu") && word.size() == 5) {
      if (const auto both = number_of(word.substr(2)); both) return FrameworkVersion{*both / 10, *both % 10};
    }
  }
  return std::nullopt;
}

SoftwareReading of_name(std::string_view text, FrameworkKind framework, std::string_view word) {
  if (is_container(word)) return of_container(*month_of(word), framework);
  const auto version = parse_framework_version(word);
  if (!version || !was_released(framework, *version))
    return {std::nullopt, fmt::format("{} names no version that was released", text), "as in pytorch/2.1"};
  Framework usual = usual_framework(framework);
  usual.version = *version;
  return {SoftwareStack{framework, *version, nccl_of(usual), cuda_named(text).value_or(cuda_of(usual))}};
}

constexpr std::string_view kExamples =
    "a year (2020), a container (ngc-24.07, nvcr.io/nvidia/pytorch:24.07-py3) or a module (pytorch/2.1)";

}  // namespace

nccl::Version nccl_of(const Framework& framework) {
  if (framework.kind == FrameworkKind::pytorch) return newest_up_to(kPyTorchNccl, framework.version);
  return framework.version < kUnlisted ? newest_up_to(kTensorFlowNccl, framework.version) : nccl::Version{};
}

FrameworkVersion cuda_of(const Framework& framework) {
  if (framework.kind != FrameworkKind::pytorch) return {0, 0};
  FrameworkVersion cuda = kPyTorchCuda.front().cuda;
  for (const BundledCuda& row : kPyTorchCuda)
    if (row.first <= framework.version) cuda = row.cuda;
  return cuda;
}

nccl::Version at_least_for(Architecture gpu, const nccl::Version& version) {
  if (gpu != Architecture::blackwell) return version;
  return std::max(version, nccl::Version{2, 26, 2});  // PyTorch 2.7, the first for CUDA 12.8
}

FrameworkVersion first_pytorch_for(Architecture gpu) {
  switch (gpu) {
    case Architecture::ampere:
    case Architecture::ada:
      return {1, 6};  // CUDA 11, of NVIDIA's containers first
    case Architecture::hopper:
      return {1, 13};  // CUDA 11.8
    case Architecture::blackwell:
      return {2, 6};  // CUDA 12.8: NVIDIA's container 25.01; the binaries of 2.7 are the first
    default:
      return {0, 0};
  }
}

bool was_released(FrameworkKind framework, const FrameworkVersion& version) {
  const auto& last = framework == FrameworkKind::pytorch ? kLastPyTorch : kLastTensorFlow;
  if (version.major < 0 || version.major >= static_cast<int>(last.size())) return false;
  const bool newest = version.major + 1 == static_cast<int>(last.size());
  return version.minor <= last[static_cast<std::size_t>(version.major)] + (newest ? kMostFutureMinors : 0);
}

SoftwareReading read_software(std::string_view text, FrameworkKind usual) {
  const bool names_year = number_of(text.substr(0, 4)) && text.size() >= 4;
  if (const auto date = month_of(text); date && names_year) return of_month(*date, usual);
  const std::string lower = lower_case(std::string(text));
  std::optional<FrameworkKind> framework;
  bool is_nvidias = false, is_others = false;
  for (std::string_view word : words_of(lower)) {
    if (const auto named = framework_named(word)) framework = named;
    is_nvidias = is_nvidias || word == "ngc";
    const bool has_version =
        word.size() > 1 && word[0] >= '0' && word[0] <= '9' && word.find('.') != word.npos;
    if (has_version && !is_others && (framework || is_nvidias)) {
      if (word.ends_with(".sif")) word.remove_suffix(4);
      return of_name(text, framework.value_or(usual), word);
    }
    is_others = names_another(word);
  }
  return {std::nullopt, fmt::format("{} names no software that is known", text.empty() ? "this" : text),
          std::string(kExamples)};
}

}  // namespace foretrain
