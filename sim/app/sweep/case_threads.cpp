// One source of groups under a lock, one queue of results; each thread keeps its own clusters and networks.
#include "sim/app/sweep/case_threads.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace foretrain {

namespace {

/// Results that wait for the writer before threads wait for it.
constexpr std::size_t kMostWaiting = 1000;

class Threads {
 public:
  Threads(const SweptScenario& scenario, SweepCases& cases, const CaseThreads& how)
      : scenario_(scenario), cases_(cases), how_(how), next_(how.shard.part - 1) {}

  void run() {
    std::vector<std::thread> threads;
    working_ = how_.threads;
    for (int i = 0; i < how_.threads; ++i) threads.emplace_back([this] { work(); });
    try {
      take_all();
    } catch (...) {
      keep(std::current_exception());
    }
    stop();
    for (std::thread& thread : threads) thread.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  /// Numbers and values of the next group that has any case left; false at the end.
  bool next(GroupResult& group) {
    const std::lock_guard lock(source_);
    for (; next_ < cases_.groups() && !is_stopped(); next_ += how_.shard.of) {
      group = {};
      for (std::int64_t i = 0; i < cases_.group_size(); ++i) add(group, next_ * cases_.group_size() + i);
      if (group.numbers.empty()) continue;
      next_ += how_.shard.of;
      return true;
    }
    return false;
  }

  void add(GroupResult& group, std::int64_t number) {
    if (std::ranges::binary_search(how_.done, number)) return;
    std::vector<Value> values = cases_.values(number);
    if (!cases_.is_case(number, values)) return;
    group.numbers.push_back(number);
    group.values.push_back(std::move(values));
  }

  void work() {
    try {
      CasePredictor predictor(scenario_);
      for (GroupResult group; next(group);) {
        predict(predictor, group);
        give(std::move(group));
      }
    } catch (...) {
      keep(std::current_exception());
    }
    const std::lock_guard lock(results_);
    --working_;
    changed_.notify_all();
  }

  /// The last column is the number of GPUs.
  void predict(CasePredictor& predictor, GroupResult& group) const {
    std::vector<int> gpus;
    for (const std::vector<Value>& values : group.values)
      gpus.push_back(static_cast<int>(std::get<std::int64_t>(values.back().data)));
    group.results = predictor.predict(cases_.settings(group.values.front()), gpus);
  }

  void give(GroupResult group) {
    std::unique_lock lock(results_);
    changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting || is_stopped_; });
    waiting_.push_back(std::move(group));
    changed_.notify_all();
  }

  void take_all() {
    using namespace std::chrono_literals;
    std::unique_lock lock(results_);
    while (true) {
      changed_.wait_for(lock, 100ms, [this] { return !waiting_.empty() || working_ == 0; });
      std::deque<GroupResult> some = std::move(waiting_);
      waiting_.clear();
      if (some.empty() && working_ == 0) return;
      changed_.notify_all();
      lock.unlock();
      for (const GroupResult& group : some) how_.take(group);
      const bool stops = how_.stops();
      lock.lock();
      is_stopped_ = is_stopped_ || stops || problem_ != nullptr;
    }
  }

  bool is_stopped() {
    const std::lock_guard lock(results_);
    return is_stopped_;
  }

  void stop() {
    const std::lock_guard lock(results_);
    is_stopped_ = true;
    changed_.notify_all();
  }

  /// The first one.
  void keep(std::exception_ptr problem) {
    const std::lock_guard lock(results_);
    if (!problem_) problem_ = std::move(problem);
    is_stopped_ = true;
    changed_.notify_all();
  }

  const SweptScenario& scenario_;
  SweepCases& cases_;
  const CaseThreads& how_;
  std::mutex source_, results_;
  std::condition_variable changed_;
  std::int64_t next_;
  std::deque<GroupResult> waiting_;
  int working_ = 0;
  bool is_stopped_ = false;
  std::exception_ptr problem_;
};

}  // namespace

void predict_cases(const SweptScenario& scenario, SweepCases& cases, const CaseThreads& how) {
  Threads(scenario, cases, how).run();
}

}  // namespace foretrain
