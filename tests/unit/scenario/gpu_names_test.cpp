// Names of GPUs as nvidia-smi, lspci, sites and people write them.
#include "sim/scenario/gpu_names.hpp"

#include "sim/scenario/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace gpu_names_test {

using namespace foretrain;

namespace {

std::vector<std::string> named(std::string_view name) {
  test::use_source_catalogs();
  return gpus_named(name, names_in(CatalogKind::gpus));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a name as nvidia-smi prints it is one GPU of the catalog") {
  struct Row {
    std::string_view printed, entry;
  };
  const Row rows[] = {
      {"NVIDIA GeForce RTX 3060", "rtx-3060"},
      {"NVIDIA GeForce RTX 3060 Ti", "rtx-3060ti"},
      {"NVIDIA GeForce RTX 4070 Ti SUPER", "rtx-4070ti-super"},
      {"NVIDIA GeForce RTX 4090 Laptop GPU", "rtx-4090-laptop"},
      {"GeForce GTX 1080 Ti", "gtx-1080ti"},
      {"NVIDIA GeForce GTX 1060 3GB", "gtx-1060-3gb"},
      {"NVIDIA TITAN X (Pascal)", "titan-x-pascal"},
      {"NVIDIA TITAN RTX", "titan-rtx"},
      {"Quadro RTX 6000", "quadro-rtx-6000"},
      {"Quadro RTX 8000", "rtx-8000"},
      {"NVIDIA RTX A5000", "rtx-a5000"},
      {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
      {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-blackwell"},
      {"NVIDIA T1000", "t1000"},
      {"Tesla T4", "t4"},
      {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb"},
      {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"},
      {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"},
      {"NVIDIA H100 PCIe", "h100-pcie-80gb"},
      {"NVIDIA GH200 480GB", "gh200-96gb"},
      {"NVIDIA A10G", "a10g"},
      {"AMD Instinct MI250X", "mi250x"},
      {"GV100GL [Tesla V100 SXM2 16GB]", "v100-sxm2-16gb"},
  };
  for (const Row& row : rows) {
    INFO(row.printed);
    CHECK(named(row.printed) == Names{std::string(row.entry)});
  }
}

TEST_CASE("a name with several readings has all of them, and one with a word more than the catalog none") {
  CHECK(named("v100").size() == 5);
  CHECK(named("RTX 4060 Ti") == Names{"rtx-4060ti-16gb", "rtx-4060ti-8gb"});
  CHECK(named("RTX 6000").size() >= 2);
  CHECK(named("a10") == Names{"a10"});
  CHECK(named("NVIDIA GeForce RTX 3090 Laptop GPU").empty());
  CHECK(named("").empty());
  CHECK(named("NVIDIA").empty());
}

}  // namespace gpu_names_test
