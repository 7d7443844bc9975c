// A table of releases: torch.cuda.nccl.version() of PyTorch's binaries, third_party/nccl of its source.
#include "sim/scenario/sections/software_era.hpp"

#include <algorithm>
#include <array>

namespace foretrain {

namespace {

struct Release {
  FrameworkVersion first;
  nccl::Version nccl;
};

constexpr std::array<Release, 12> kPyTorch{{{{1, 0}, {2, 3, 7}},
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

/// TensorFlow 1.8 is of April 2018, when NCCL 2.1 was current, 1.13 of February 2019.
constexpr std::array<Release, 3> kTensorFlow{
    {{{1, 0}, {2, 1, 15}}, {{1, 12}, {2, 3, 5}}, {{2, 0}, {2, 4, 8}}}};
/// Later TensorFlows are built with what their container has.
constexpr FrameworkVersion kUnlisted{2, 3};

template <std::size_t N>
nccl::Version newest_up_to(const std::array<Release, N>& releases, const FrameworkVersion& version) {
  const auto after =
      std::ranges::find_if(releases, [&](const Release& release) { return release.first > version; });
  return after == releases.begin() ? after->nccl : std::prev(after)->nccl;
}

}  // namespace

nccl::Version nccl_of(const Framework& framework) {
  if (framework.kind == FrameworkKind::pytorch) return newest_up_to(kPyTorch, framework.version);
  return framework.version < kUnlisted ? newest_up_to(kTensorFlow, framework.version) : nccl::Version{};
}

nccl::Version at_least_for(Architecture gpu, const nccl::Version& version) {
  if (gpu != Architecture::blackwell) return version;
  return std::max(version, nccl::Version{2, 26, 2});  // PyTorch 2.7, the first for CUDA 12.8
}

}  // namespace foretrain
