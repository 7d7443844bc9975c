// The table, and what each need is called when it is missing.
#include "calibrate/micro/plan/family.hpp"

#include "calibrate/micro/plan/plans.hpp"

namespace foretrain::micro {

namespace {

std::string missing(Need need, const Machine& machine) {
  const int gpus = machine.ranks > 1 ? machine.ranks : machine.gpu_count();
  switch (need) {
    case Need::gpu:
      return gpus >= 1 ? "" : "a GPU";
    case Need::two_gpus:
      return gpus >= 2 ? "" : "two GPUs";
    case Need::cublas:
      return machine.has_cublas ? "" : "cuBLAS";
    case Need::cudnn:
      return machine.has_cudnn ? "" : "cuDNN";
    case Need::nccl:
      return machine.has_nccl ? "" : "NCCL";
  }
  return "";
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> rows{
      {SampleKind::host,
       "launching kernels and graphs, events, synchronisation, copy calls",
       {Need::gpu},
       1,
       false,
       plan_host},
      {SampleKind::gemm,
       "matrix products by size, precision and batched count",
       {Need::gpu, Need::cublas},
       3,
       false,
       plan_gemm},
      {SampleKind::copy, "copies between host and GPUs and among GPUs", {Need::gpu}, 2, false, plan_copy},
      {SampleKind::memory, "kernels bound by memory or cache", {Need::gpu}, 1, false, plan_memory},
      {SampleKind::collective,
       "NCCL by operation, size, GPUs, algorithm and protocol",
       {Need::two_gpus, Need::nccl},
       4,
       true,
       plan_collective},
      {SampleKind::conv,
       "the convolutions of ResNet-50: forward, data, weights",
       {Need::gpu, Need::cudnn},
       3,
       false,
       plan_conv},
      {SampleKind::mix,
       "all operators of ResNet-50 and of BERT-base in a row",
       {Need::gpu, Need::cublas},
       1,
       false,
       plan_mix},
      {SampleKind::tax,
       "compute while a collective runs",
       {Need::two_gpus, Need::nccl, Need::cublas},
       1,
       false,
       plan_tax},
      {SampleKind::cpu, "memcpy, image decoding, Python and torch dispatch", {}, 1, false, plan_cpu},
  };
  return rows;
}

const Family* find_family(std::string_view name) {
  for (const Family& family : families()) {
    if (family.name() == name) return &family;
  }
  return nullptr;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.emplace_back(family.name());
  return names;
}

std::string missing_for(const Family& family, const Machine& machine) {
  if (machine.ranks > 1 && !family.across_ranks)
    return "a process of its own: it is left out where several ranks run";
  std::string text;
  for (const Need need : family.needs) {
    const std::string what = missing(need, machine);
    if (!what.empty()) text += (text.empty() ? "" : " and ") + what;
  }
  return text;
}

}  // namespace foretrain::micro
