// Runs that are dry, short, killed, crash, or find a full disk or a GPU that is not wholly theirs: what they
// say, and what they leave.
#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "tests/bench/bench_run.hpp"
#include "tests/support/catch.hpp"

namespace interruptions_test {

using namespace foretrain;
using test::BenchFolder;
using test::BenchOutcome;

TEST_CASE("a crash in a library names the point, and keeps the samples before it") {
  const BenchFolder folder;
  CHECK(folder.run("-o samples.csv --only host").exit_code == 0);
  const std::vector<Sample> before = folder.samples("samples.csv");
  const BenchOutcome run =
      folder.run("-o samples.csv --only conv", "FORETRAIN_STANDIN_FAIL=cudnnConvolutionForward=-11");
  INFO(run.err);
  CHECK(run.exit_code == 128 + SIGSEGV);
  CHECK_THAT(run.err, StartsWith("error: the program crashed while it measured conv,forward,"));
  CHECK(folder.samples("samples.csv") == before);
}

TEST_CASE("a budget of five seconds gives whole samples, and the next run goes on from there") {
  const BenchFolder folder;
  const std::string some = " --only host,memory,copy -o samples.csv";
  const BenchOutcome run = folder.run("--budget 5s" + some, "FORETRAIN_STANDIN_MEMORY=300e6");
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  const std::size_t found = folder.samples("samples.csv").size();
  CHECK(found > 15);
  CHECK_THAT(run.out, StartsWith(fmt::format("{} points measured", found)) ||
                          ContainsSubstring(fmt::format("\n{} points measured", found)));
  const BenchOutcome next = folder.run("--budget 5s" + some, "FORETRAIN_STANDIN_MEMORY=300e6");
  CHECK_THAT(next.out, ContainsSubstring(fmt::format(", {} were there", found)));
}

TEST_CASE("a run that is killed at any moment leaves whole samples of what it had measured before") {
  std::size_t most = 0;
  for (const char* call :
       {"cudaEventRecord=-9", "cudaEventRecord=-9@300", "cublasGemmEx=-9", "cublasGemmEx=-9@300"}) {
    const BenchFolder folder;
    const BenchOutcome run =
        folder.run("-o samples.csv --only host,gemm",
                   std::string("FORETRAIN_STANDIN_MEMORY=300e6 FORETRAIN_STANDIN_FAIL=") + call);
    INFO(call << ": " << run.exit_code << "\n" << run.err);
    CHECK(run.exit_code == 128 + SIGKILL);
    CHECK(folder.files() == std::vector<std::string>{"samples.csv"});
    const std::size_t found = folder.samples("samples.csv").size();
    CHECK(found >= most);
    most = found;
  }
  CHECK(most >= 15);
}

TEST_CASE("a disk that is full at the start or fills up is one sentence, and the file stays whole") {
  const BenchFolder folder;
  const BenchOutcome none = folder.run("-o /dev/full --only host");
  CHECK(none.exit_code == 3);
  CHECK(none.says_one_sentence());
  CHECK_THAT(none.err, ContainsSubstring("/dev/full: cannot be written: No space left on device"));
  CHECK(folder.run("-o samples.csv --only host").exit_code == 0);
  const std::vector<Sample> before = folder.samples("samples.csv");
  const std::size_t blocks = folder.text_of("samples.csv").size() / 512 + 4;
  const BenchOutcome fills =
      folder.run_limited(blocks, "-o samples.csv --only memory,collective --no-children");
  INFO(fills.out << fills.err);
  CHECK(fills.exit_code == 3);
  CHECK(fills.says_one_sentence());
  CHECK_THAT(fills.err, ContainsSubstring("samples.csv: cannot be written: File too large"));
  const std::vector<Sample> after = folder.samples("samples.csv");
  REQUIRE(after.size() > before.size());
  CHECK(std::equal(before.begin(), before.end(), after.begin()));
  CHECK(folder.files() == std::vector<std::string>{"samples.csv"});
}

TEST_CASE("what makes a GPU slower than its product is said and stands in the samples file") {
  const std::pair<const char*, const char*> cases[] = {
      {"gpu_in_use", "2 other processes compute on GPU 0, so its rates are too low"},
      {"mps", "GPU 1 is shared through MPS, which may limit its threads and its memory"},
      {"mig", "GPU 0 is cut into slices (MIG), so its rates are those of a slice"},
      {"held_clocks", "GPU 0 is held at 900 MHz, its default is 1410; nvidia-smi -rac lifts it"},
      {"locked_clocks", "the clocks of GPU 0 are limited by a setting; nvidia-smi -rac and -rgc lift it"},
      {"less_power", "GPU 0 may take 250 W of its 400 W, so long kernels run slower"}};
  for (const auto& [wish, sentence] : cases) {
    const BenchFolder folder;
    const BenchOutcome run =
        folder.run(std::string("-o samples.csv --only host"), std::string("FORETRAIN_STANDIN_FAIL=") + wish);
    INFO(wish << "\n" << run.out << run.err);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.out, ContainsSubstring("warning: ") && ContainsSubstring(sentence));
    CHECK_THAT(folder.text_of("samples.csv"),
               ContainsSubstring("# warning: ") && ContainsSubstring(sentence));
    CHECK_NOTHROW(folder.samples("samples.csv"));
  }
  const BenchFolder folder;
  CHECK_THAT(folder.run("-o samples.csv --only host").out, !ContainsSubstring("warning"));
}

TEST_CASE("a dry run names the points in order and their seconds, and writes nothing") {
  const BenchFolder folder;
  const BenchOutcome run = folder.run("-o samples.csv --dry-run --only host,memory");
  INFO(run.out << run.err);
  CHECK(run.exit_code == 0);
  CHECK(folder.files().empty());
  CHECK_THAT(run.out, StartsWith("  2.00 s  host,launch_latency,"));
  CHECK_THAT(run.out, ContainsSubstring("\nhost: 15 points, up to 30.0 s\nmemory: ") &&
                          ContainsSubstring("Nothing was measured.\n"));
  CHECK(folder.run("-o samples.csv --only host").exit_code == 0);
  CHECK_THAT(folder.run("-o samples.csv --dry-run --only host").out, ContainsSubstring("host: 0 points"));
  CHECK_THAT(folder.run("-o samples.csv --dry-run --budget 1s --only memory").out,
             ContainsSubstring(" left for a longer --budget"));
}

}  // namespace interruptions_test
