// Language models of the catalog: as many parameters as their published weights have.
#include <cstdint>
#include <string>

#include "sim/scenario/scenario.hpp"
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
/// paper.
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
};

}  // namespace

TEST_CASE("language models have exactly the parameters of their published weights") {
  test::use_source_catalogs();
  for (const PublishedCount& row : kPublished) {
    INFO(row.model);
    ScenarioOverrides overrides;
    overrides.model = row.model, overrides.cluster = "mahti";
    CHECK(make_scenario(overrides).workload.model->parameter_elements() == row.parameters);
  }
}

}  // namespace language_models_test
