// Cases in worker processes: one that crashes, takes all memory or throws gets a message, and every other
// case its row.
#include "sim/app/sweep/case_workers.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/scenario/sweep/sweep.hpp"
#include "tests/support/catch.hpp"

namespace case_workers_test {

using namespace foretrain;

namespace {

constexpr std::string_view kSweep =
    "[axes]\nmodel = [\"mnist_net\"]\ncluster = [\"puhti\"]\nbatch = [32, 64, 128]\ngpus = [1, 2, 4]\n";

/// What every process sees.
struct Shared {
  int calls[16];
};
Shared& shared() {
  static void* const page =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<Shared*>(page);
}

/// The cases of kSweep with what `on_case` does in its worker before it answers.
struct Swept {
  explicit Swept(std::function<void(std::int64_t batch, int gpus)> on_case) {
    shared() = {};
    how.take = [this](const GroupRows& group) {
      for (std::size_t i = 0; i < group.numbers.size(); ++i) rows[group.numbers[i]] = group.rows[i];
    };
    how.stops = [] { return false; };
    how.predictor = [on_case] {
      return [on_case](const std::vector<StudySetting>& settings, const std::vector<int>& gpus) {
        std::int64_t batch = 0;
        for (const StudySetting& setting : settings)
          if (setting.key == "model.batch_per_gpu") batch = std::get<std::int64_t>(setting.value.data);
        std::vector<CaseResult> out;
        for (const int number : gpus) {
          on_case(batch, number);
          CaseResult& result = out.emplace_back();
          result.point.gpus = number;
          result.point.step_s = static_cast<double>(batch) / number;
        }
        return out;
      };
    };
  }
  void run(int workers = 2) {
    const SourceText source{"sweep.toml", std::string(kSweep)};
    const Sweep sweep = read_or_throw(source, read_sweep);
    SweepCases cases(sweep, "ddp", source);
    how.workers = workers;
    predict_cases({}, cases, how);
  }
  /// Its seconds of a step, or its message.
  std::string of(std::int64_t number) const {
    const CaseRow& row = rows.at(number);
    if (!row.message.empty()) return row.message;
    for (std::size_t i = 0; i < case_figures().size(); ++i)
      if (case_figures()[i].name == "step_s") return fmt::format("{}", std::get<double>(row.figures[i].data));
    return "no step";
  }
  /// All have seconds but this one, which is 64 samples on 4 GPUs.
  void check_others(std::int64_t wrong) const {
    REQUIRE(rows.size() == 9);
    for (std::int64_t number = 0; number < 9; ++number) {
      if (number == wrong) continue;
      const double step = static_cast<double>(32 << (number / 3)) / static_cast<double>(1 << (number % 3));
      CHECK(of(number) == fmt::format("{}", step));
    }
  }

  CaseWorkers how;
  std::map<std::int64_t, CaseRow> rows;
};

constexpr std::int64_t kWrong = 5;
bool is_wrong(std::int64_t batch, int gpus) { return batch == 64 && gpus == 4; }

}  // namespace

TEST_CASE("a case that ends its worker by a signal has its name as a message, and the others have rows") {
  const std::pair<int, std::string> signals[] = {
      {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"}, {SIGBUS, "SIGBUS"}};
  for (const auto& [signal, name] : signals) {
    for (const int workers : {1, 3}) {
      Swept swept([signal = signal](std::int64_t batch, int gpus) {
        if (is_wrong(batch, gpus)) std::signal(signal, SIG_DFL), std::raise(signal);
      });
      swept.run(workers);
      CHECK(swept.of(kWrong) == "this case ended its worker process by " + name);
      swept.check_others(kWrong);
    }
  }
}

TEST_CASE("a case that takes more memory than there is says so, and the others have rows") {
  Swept swept([](std::int64_t batch, int gpus) {
    if (!is_wrong(batch, gpus)) return;
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 4096; ++i) blocks.push_back(std::make_unique<char[]>(1 << 20));
    std::abort();  // not reached: 4 GiB are beyond the limit
  });
  swept.how.most_bytes = 1ULL << 30;
  swept.run();
  CHECK(swept.of(kWrong) == "this case ended its worker process because it ran out of memory");
  swept.check_others(kWrong);
}

TEST_CASE("an exception of a case and an exit of its worker are messages, too") {
  Swept swept([](std::int64_t batch, int gpus) {
    if (is_wrong(batch, gpus)) throw std::out_of_range("no such layer");
  });
  swept.run();
  CHECK(swept.of(kWrong) == "this case ended its worker process with an error of the program: no such layer");
  swept.check_others(kWrong);
  Swept left([](std::int64_t batch, int gpus) {
    if (is_wrong(batch, gpus)) ::_exit(9);
  });
  left.run();
  CHECK(left.of(kWrong) == "this case ended its worker process with exit code 9");
  left.check_others(kWrong);
}

TEST_CASE("cases that all crash end with a message each, after two tries at most") {
  Swept swept([](std::int64_t, int gpus) {
    __atomic_fetch_add(&shared().calls[gpus], 1, __ATOMIC_SEQ_CST);
    std::raise(SIGSEGV);
  });
  swept.run();
  REQUIRE(swept.rows.size() == 9);
  for (std::int64_t number = 0; number < 9; ++number)
    CHECK(swept.of(number) == "this case ended its worker process by SIGSEGV");
  // The first number of GPUs of a group is met by the group and by the case alone, the others alone.
  CHECK(shared().calls[1] == 6);
  CHECK(shared().calls[2] == 3);
}

TEST_CASE(
    "a worker that somebody kills has its cases predicted again, and a case that is killed thrice does not") {
  Swept swept([](std::int64_t batch, int gpus) {
    if (is_wrong(batch, gpus) && __atomic_fetch_add(&shared().calls[0], 1, __ATOMIC_SEQ_CST) < 2)
      std::raise(SIGKILL);
  });
  swept.run();
  CHECK(swept.of(kWrong) == "16");
  swept.check_others(kWrong);
  Swept killed([](std::int64_t batch, int gpus) {
    if (is_wrong(batch, gpus)) std::raise(SIGKILL);
  });
  killed.run();
  CHECK_THAT(killed.of(kWrong), ContainsSubstring("this case ended its worker process by SIGKILL"));
  killed.check_others(kWrong);
}

TEST_CASE("where the system fails the sweep ends, and so it does when no worker can begin") {
  Swept swept([](std::int64_t batch, int gpus) {
    if (is_wrong(batch, gpus)) throw EnvironmentError("model.json: cannot be read");
  });
  CHECK_THROWS_WITH(swept.run(), "model.json: cannot be read");
  Swept none([](std::int64_t, int) {});
  none.how.predictor = []() -> GroupPredictor { std::abort(); };
  CHECK_THROWS_AS(none.run(), EnvironmentError);
  CHECK(none.rows.empty());
}

TEST_CASE("a sweep that is told to stop begins no further case, and takes those that were begun") {
  Swept swept([](std::int64_t, int) { ::usleep(20'000); });
  swept.how.stops = [] { return true; };
  swept.run();
  CHECK(swept.rows.size() < 9);
  CHECK(swept.rows.size() % 3 == 0);
}

TEST_CASE("cases that are done are left out") {
  Swept swept([](std::int64_t, int) {});
  swept.how.done = {0, 4, 8};
  swept.run(4);
  CHECK(swept.rows.size() == 6);
  CHECK_FALSE(swept.rows.contains(4));
}

}  // namespace case_workers_test
