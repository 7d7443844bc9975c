// Language models of the catalog: as many parameters as their published weights have.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/transformer/shape.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace language_models_test {

using namespace foretrain;

namespace {

struct PublishedCount {
  std::string model;
  std::int64_t parameters;
};

/// As the index of each one's weights says (total_size over two bytes), or follows from the sizes in its
/// paper; with the vectors that balance a router and are not trained.
const PublishedCount kPublished[] = {
    {"llama_7b", 6'738'415'616},
    {"llama_13b", 13'015'864'320},
    {"llama_33b", 32'528'943'616},
    {"llama_65b", 65'285'660'672},
    {"llama2_7b", 6'738'415'616},
    {"llama2_13b", 13'015'864'320},
    {"llama2_70b", 68'976'648'192},
    {"llama3_8b", 8'030'261'248},
    {"llama3_70b", 70'553'706'496},
    {"llama3_405b", 405'853'388'800},
    {"llama3_2_1b", 1'235'814'400},
    {"llama3_2_3b", 3'212'749'824},
    {"mistral_7b", 7'241'732'096},
    {"mistral_nemo_12b", 12'247'782'400},
    {"mistral_large_123b", 122'610'069'504},
    {"mixtral_8x7b", 46'702'792'704},
    {"mixtral_8x22b", 140'630'071'296},
    {"qwen2_5_0_5b", 494'032'768},
    {"qwen2_5_1_5b", 1'543'714'304},
    {"qwen2_5_3b", 3'085'938'688},
    {"qwen2_5_7b", 7'615'616'512},
    {"qwen2_5_14b", 14'770'033'664},
    {"qwen2_5_32b", 32'763'876'352},
    {"qwen2_5_72b", 72'706'203'648},
    {"qwen3_0_6b", 596'049'920},
    {"qwen3_1_7b", 1'720'574'976},
    {"qwen3_4b", 4'022'468'096},
    {"qwen3_8b", 8'190'735'360},
    {"qwen3_14b", 14'768'307'200},
    {"qwen3_32b", 32'762'123'264},
    {"gemma_2b", 2'506'172'416},
    {"gemma_7b", 8'537'680'896},
    {"pythia_1_4b", 1'414'647'808},
    {"pythia_6_9b", 6'857'302'016},
    {"pythia_12b", 11'846'072'320},
    {"gpt_neox_20b", 20'554'567'680},
    {"qwen2_57b_a14b", 57'408'658'944},
    {"qwen3_30b_a3b", 30'532'122'624},
    {"qwen3_235b_a22b", 235'093'634'560},
    {"deepseek_v2_lite", 15'706'484'224},
    {"deepseek_v2", 235'741'434'880},
    {"deepseek_v3", 671'026'419'200},
    {"kimi_k2", 1'026'408'232'448},
    {"llama4_scout", 107'769'861'120},
    {"llama4_maverick", 400'711'848'960},
    {"gemma2_2b", 2'614'341'888},
    {"gemma2_9b", 9'241'705'984},
    {"gemma2_27b", 27'227'128'320},
    {"gemma3_1b", 999'885'952},
    {"gemma3_4b", 3'880'263'168},
    {"gemma3_12b", 11'766'034'176},
    {"gemma3_27b", 27'009'346'304},
    {"olmo_1b", 1'176'764'416},
    {"olmo_7b", 6'888'095'744},
    {"olmo2_7b", 7'298'617'344},
    {"olmo2_13b", 13'716'198'400},
    {"falcon_7b", 6'921'720'704},
    {"falcon_40b", 41'303'293'952},
    {"falcon_180b", 178'557'088'768},
    {"bloom_560m", 559'214'592},
    {"bloom_1b1", 1'065'314'304},
    {"bloom_1b7", 1'722'408'960},
    {"bloom_3b", 3'002'557'440},
    {"bloom_7b1", 7'069'016'064},
    {"bloom_176b", 176'247'271'424},
    {"mpt_7b", 6'649'286'656},
    {"mpt_30b", 29'957'200'896},
    {"mpt_125m", 125'311'488},
    {"mpt_350m", 355'985'408},
    {"mpt_760m", 760'470'528},
    {"mpt_1b", 1'315'950'592},
    {"mpt_3b", 2'651'837'440},
    {"mpt_13b", 12'853'954'560},
    {"mpt_70b", 64'862'437'376},
    {"nemotron4_15b", 15'628'775'424},
    {"nemotron4_340b", 341'029'195'776},
    {"internlm_7b", 7'321'948'160},
    {"nanotron_1b", 1'342'244'864},
    {"nanotron_3b", 3'573'722'112},
    {"nanotron_8b", 8'858'636'288},
    {"nanotron_80b", 79'995'084'800},
    {"nanotron_70b_gqa", 70'599'843'840},
    {"grok1", 315'684'820'992},
    {"gpt3_125m", 125'226'240},
    {"gpt3_350m", 355'871'744},
    {"gpt3_760m", 760'300'032},
    {"gpt3_1_3b", 1'315'723'264},
    {"gpt3_2_7b", 2'651'553'280},
    {"gpt3_6_7b", 6'658'404'352},
    {"gpt3_13b", 12'853'386'240},
    {"gpt3_175b", 174'604'259'328},
};

}  // namespace

TEST_CASE("language models whose parameters are published rounded have as many") {
  test::use_source_catalogs();
  // Model cards, in billions; of GLM-4.5 with the layer of a further token, 1 % of it, which is not in the
  // file.
  const std::vector<std::tuple<std::string, double, double>> rows{
      {"gpt_oss_20b", 20.91, 0.001}, {"gpt_oss_120b", 116.83, 0.001}, {"glm4_5", 355, 0.011}};
  for (const auto& [name, billions, margin] : rows) {
    INFO(name);
    const Model model = read_or_throw(*open_named(CatalogKind::models, name), read_model);
    const auto shape = recognize_transformer(model).shape;
    REQUIRE(shape);
    CHECK(static_cast<double>(parameters_of(*shape).total) == Approx(billions * 1e9).epsilon(margin));
  }
}

TEST_CASE("language models have exactly the parameters of their published weights") {
  test::use_source_catalogs();
  for (const PublishedCount& row : kPublished) {
    INFO(row.model);
    ScenarioOverrides overrides;
    overrides.model = row.model, overrides.cluster = "mahti";
    const Scenario scenario = make_scenario(overrides);
    const ExpandedModel& model = *scenario.workload.model;
    CHECK(model.parameter_elements() + model.frozen_elements() == row.parameters);
  }
}

}  // namespace language_models_test
