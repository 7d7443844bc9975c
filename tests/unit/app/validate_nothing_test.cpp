// validate never passes on nothing, and one bad row costs that row.
#include <string>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace validate_nothing_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;
using test::TemporaryFolder;

namespace {

const std::string kHeader =
    "source,model,params,layers,hidden,heads,kv_heads,ffn,vocab,seq_len,micro_batch,global_batch,tp,pp,vpp,"
    "cp,ep,"
    "dp,zero_stage_or_fsdp,recompute,precision,gpu,nodes,gpus,framework,step_time_s,tokens_per_s_per_gpu,"
    "tflops_per_gpu,mfu,memory_gb,notes\n";

std::string row_on(const std::string& gpu, const std::string& nodes = "1") {
  return "s,Llama-1B,1342177280,16,2048,32,32,8192,131072,4096,2,256,1,1,1,1,1,8,zero0,none,bf16," + gpu +
         "," + nodes + ",8,nanotron,3.26,,,,50.2,q=A\n";
}

}  // namespace

TEST_CASE("a file of which no row is scored is a mistake that says why") {
  const TemporaryFolder folder;
  folder.write("none.csv", kHeader + row_on("Tesla-K10"));
  const auto run = folder.run("foretrain validate none.csv --no-anchor");
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("none of the 1 row of none.csv is scored"));
  CHECK_THAT(run.output, ContainsSubstring("line 2: no cluster is known for GPU Tesla-K10"));
  folder.write("one.csv", kHeader + row_on("H100-80GB-SXM"));
  const auto anchored = folder.run("foretrain validate one.csv");
  CHECK(anchored.exit_code == 1);
  CHECK_THAT(anchored.output, ContainsSubstring("--no-anchor"));
}

TEST_CASE("an unknown GPU and an unreadable row cost their rows, not the file") {
  const TemporaryFolder folder;
  folder.write("some.csv",
               kHeader + row_on("Tesla-K10") + row_on("H100-80GB-SXM", "nine") + row_on("H100-80GB-SXM"));
  const auto run = folder.run("foretrain validate some.csv --no-anchor");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("3 rows, 1 predicted, 2 skipped"));
  CHECK_THAT(run.output, ContainsSubstring("of 1 rows that ran, 0 are said not to fit"));
}

}  // namespace validate_nothing_test
