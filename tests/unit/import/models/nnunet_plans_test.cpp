// nnU-Net's plans: parameters as dynamic_network_architectures 0.4 has them, and what is refused.
#include "tests/unit/import/models/imported.hpp"

namespace nnunet_plans_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

const std::string kPlans =
    R"({"plans_name": "nnUNetPlans", "foreground_intensity_properties_per_channel": {"0": {}},
"configurations": {
"2d": {"patch_size": [512, 512], "UNet_class_name": "PlainConvUNet", "UNet_base_num_features": 32,
  "unet_max_num_features": 512, "n_conv_per_stage_encoder": [2, 2, 2, 2, 2, 2, 2, 2],
  "n_conv_per_stage_decoder": [2, 2, 2, 2, 2, 2, 2],
  "conv_kernel_sizes": [[3, 3], [3, 3], [3, 3], [3, 3], [3, 3], [3, 3], [3, 3], [3, 3]],
  "pool_op_kernel_sizes": [[1, 1], [2, 2], [2, 2], [2, 2], [2, 2], [2, 2], [2, 2], [2, 2]]},
"3d_fullres": {"patch_size": [40, 224, 192], "architecture": {
  "network_class_name": "dynamic_network_architectures.architectures.unet.PlainConvUNet", "arch_kwargs": {
  "features_per_stage": [32, 64, 128, 256, 320, 320], "n_conv_per_stage": [2, 2, 2, 2, 2, 2],
  "n_conv_per_stage_decoder": [2, 2, 2, 2, 2], "conv_bias": true,
  "kernel_sizes": [[1, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3]],
  "strides": [[1, 1, 1], [1, 2, 2], [2, 2, 2], [2, 2, 2], [2, 2, 2], [1, 2, 2]]}}},
"residual": {"patch_size": [128, 128, 128], "architecture": {
  "network_class_name": "dynamic_network_architectures.architectures.unet.ResidualEncoderUNet", "arch_kwargs": {
  "features_per_stage": [32, 64, 128, 256, 320, 320], "n_blocks_per_stage": [1, 3, 4, 6, 6, 6],
  "n_conv_per_stage_decoder": [1, 1, 1, 1, 1], "conv_bias": true,
  "kernel_sizes": [[3, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3]],
  "strides": [[1, 1, 1], [2, 2, 2], [2, 2, 2], [2, 2, 2], [2, 2, 2], [2, 2, 2]]}}}}})";

ModelImportOptions named(const std::string& configuration) {
  ModelImportOptions options;
  options.name = configuration;
  return options;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("plans of nnU-Net have the parameters of the network that it builds") {
  CHECK(network_of(kPlans).parameter_elements() == 30'703'498);
  CHECK(network_of(kPlans, named("2d")).parameter_elements() == 46'324'558);
  CHECK(network_of(kPlans, named("residual")).parameter_elements() == 102'349'770);
}

TEST_CASE("plans of nnU-Net say which configuration was taken and what they do not say") {
  const ImportedModel made = imported(kPlans);
  CHECK(remarks(made, "configuration 3d_fullres"));
  CHECK(remarks(made, "2 classes"));
}

TEST_CASE("plans that do not fit together are refused") {
  CHECK_THAT(mistakes_of(
                 replaced(kPlans, "\"3d_fullres\"", "\"other\"").replace(kPlans.find("\"2d\""), 4, "\"xx\"")),
             ContainsSubstring("the plans have no configuration"));
  CHECK_THAT(mistakes_of(replaced(kPlans, "unet.PlainConvUNet", "unet.Other")),
             ContainsSubstring("known: PlainConvUNet, ResidualEncoderUNet"));
  CHECK_THAT(mistakes_of(replaced(kPlans, "[32, 64, 128, 256, 320, 320]", "[32, 64, 128, 256, 320]")),
             ContainsSubstring("the stages of the plan do not fit together"));
  CHECK_THAT(mistakes_of(replaced(kPlans, "[40, 224, 192]", "[40, -1, 192]")),
             ContainsSubstring("patch_size must be a list of 1 to 16 whole numbers"));
  CHECK_THAT(mistakes_of(kPlans.substr(0, 600)), ContainsSubstring("the plan is no JSON object"));
}

TEST_CASE("plans with more convolutions than any network has are refused before they are written out") {
  CHECK_THAT(mistakes_of(replaced(kPlans, "\"n_conv_per_stage\": [2,", "\"n_conv_per_stage\": [1000000,")),
             ContainsSubstring("a stage of the plan has more than 100 convolutions"));
}

}  // namespace nnunet_plans_test
