// Listens to the tests of a mutated program: with $FORETRAIN_REACH_TO set it writes there a line for
// each test that passed: its seconds of CPU, its name, and the mutants that it reached.
#include <ctime>
#include <fstream>

#define CATCH_CONFIG_EXTERNAL_INTERFACES  // Catch2 2.x: what listeners need
#include "tests/mutation/mutant.hpp"
#include "tests/support/catch.hpp"

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
const std::string& name_of(const Catch::TestCaseInfo& test) { return test.name; }
const Catch::TestCaseInfo& info_of(const Catch::TestCaseStats& stats) { return *stats.testInfo; }
#else
using ListenerBase = Catch::TestEventListenerBase;
const std::string& name_of(const Catch::TestCaseInfo& test) { return test.name; }
const Catch::TestCaseInfo& info_of(const Catch::TestCaseStats& stats) { return stats.testInfo; }
#endif

class ReachListener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo&) override {
    foretrain::mutant::switches().reached.fill(0);
    begun_ = std::clock();
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const char* path = std::getenv("FORETRAIN_REACH_TO");
    if (path == nullptr || stats.totals.assertions.failed > 0) return;
    std::ofstream file(path, std::ios::app);
    file << static_cast<double>(std::clock() - begun_) / CLOCKS_PER_SEC << '\t' << name_of(info_of(stats))
         << '\t';
    const auto& reached = foretrain::mutant::switches().reached;
    for (std::size_t site = 0; site < reached.size(); ++site)
      if (reached[site] != 0) file << ' ' << site;
    file << '\n';
  }

 private:
  std::clock_t begun_ = 0;
};

}  // namespace

CATCH_REGISTER_LISTENER(ReachListener)
