// The calling process deals out groups and takes rows. Workers answer in the order of their requests, so that
// the first request without an answer is the one during which a worker ended.
#include "sim/app/sweep/case_workers.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>

#include "sim/app/sweep/row_message.hpp"
#include "sim/app/sweep/worker_process.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

using Clock = std::chrono::steady_clock;

/// A worker is sent about so much work ahead, and at most so many groups and cases, which its socket has room
/// for.
constexpr double kSecondsAhead = 0.1;
constexpr std::size_t kMostGroupsAhead = 64, kMostCasesAhead = 4096;
/// Workers that end before their first case, in a row.
constexpr int kMostFailedStarts = 5;
/// Between two looks at stops() while no result comes.
constexpr int kPatienceMs = 100;

/// A group, or a part of it, on its way.
struct Request {
  GroupRows group;
  bool is_alone = false;  ///< one case that ended a worker, or was in a group that did
  int endings = 0;        ///< workers that it ended while it was alone
};

struct Worker {
  std::unique_ptr<WorkerProcess> process;
  std::deque<Request> requests;  ///< without an answer, in their order
  std::size_t cases = 0;         ///< of these
  bool is_ready = false;         ///< it has its predictor
  double group_s = kSecondsAhead;
  Clock::time_point last = Clock::now();  ///< of its last answer, or of a request when it had none
};

/// In the worker: a CasePredictor, or what a caller gave instead.
void answer_requests(const WorkerSocket& socket, const SweptScenario& scenario, const SweepCases& cases,
                     const CaseWorkers& how) {
  std::optional<CasePredictor> own;
  GroupPredictor predictor;
  if (how.predictor)
    predictor = how.predictor();
  else
    predictor = [&own](const auto& settings, const auto& gpus) { return own->predict(settings, gpus); };
  own.emplace(scenario);
  socket.send(ready_message());
  for (std::string request; socket.receive(request);) {
    const auto [first, gpus] = read_request(request);
    try {
      std::vector<CaseRow> rows;
      for (const CaseResult& result : predictor(cases.settings(cases.values(first)), gpus))
        rows.push_back(row_of(result));
      socket.send(rows_message(rows));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const EnvironmentError& error) {
      socket.send(environment_message(error.what()));
    } catch (const std::exception& error) {
      socket.send(failure_message(error.what()));
    }
  }
}

class BatchDealer {
 public:
  BatchDealer(const SweptScenario& scenario, SweepCases& cases, const CaseWorkers& how)
      : scenario_(scenario),
        cases_(cases),
        how_(how),
        workers_(static_cast<std::size_t>(how.workers)),
        next_(how.shard.part - 1) {}

  void run() {
    std::signal(SIGCHLD, SIG_DFL);  // ignored, no ending could be told
    while (true) {
      for (Worker& worker : workers_) send_requests(worker);
      if (std::ranges::all_of(workers_, [](const Worker& w) { return w.requests.empty(); })) return;
      wait();
      for (Worker& worker : workers_)
        if (worker.process) receive(worker);
      is_stopped_ = how_.stops() || is_stopped_;
    }
  }

 private:
  /// Numbers and values of the next group that has any case left.
  std::optional<Request> next_group() {
    for (; next_ < cases_.groups(); next_ += how_.shard.of) {
      Request request;
      for (std::int64_t i = 0; i < cases_.group_size(); ++i)
        add(request.group, next_ * cases_.group_size() + i);
      if (request.group.numbers.empty()) continue;
      next_ += how_.shard.of;
      return request;
    }
    return std::nullopt;
  }

  void add(GroupRows& group, std::int64_t number) {
    if (std::ranges::binary_search(how_.done, number)) return;
    std::vector<Value> values = cases_.values(number);
    if (!cases_.is_case(number, values)) return;
    group.numbers.push_back(number);
    group.values.push_back(std::move(values));
  }

  /// What workers left behind comes first; a case that is alone waits for a worker without requests.
  std::optional<Request> next_request(const Worker& worker) {
    if (is_stopped_) return std::nullopt;
    if (waiting_.empty()) return next_group();
    if (waiting_.front().is_alone && !worker.requests.empty()) return std::nullopt;
    std::optional<Request> out = std::move(waiting_.front());
    waiting_.pop_front();
    return out;
  }

  static bool takes_more(const Worker& worker) {
    if (worker.requests.empty()) return true;
    const auto ahead = static_cast<std::size_t>(kSecondsAhead / std::max(worker.group_s, 1e-6));
    return !worker.requests.back().is_alone && worker.cases < kMostCasesAhead &&
           worker.requests.size() < std::clamp<std::size_t>(ahead, 1, kMostGroupsAhead);
  }

  void send_requests(Worker& worker) {
    while (takes_more(worker)) {
      std::optional<Request> request = next_request(worker);
      if (!request) return;
      if (!worker.process) start(worker);
      if (worker.requests.empty()) worker.last = Clock::now();
      worker.process->send(request_message(request->group.numbers.front(), gpus_of(request->group)));
      worker.cases += request->group.numbers.size();
      worker.requests.push_back(std::move(*request));
    }
  }

  /// The last column is the number of GPUs.
  static std::vector<int> gpus_of(const GroupRows& group) {
    std::vector<int> out;
    for (const std::vector<Value>& values : group.values)
      out.push_back(static_cast<int>(std::get<std::int64_t>(values.back().data)));
    return out;
  }

  void start(Worker& worker) {
    worker = {};
    worker.process = std::make_unique<WorkerProcess>(
        [this](const WorkerSocket& socket) { answer_requests(socket, scenario_, cases_, how_); },
        how_.most_bytes);
  }

  void wait() {
    std::vector<pollfd> sockets;
    for (const Worker& worker : workers_)
      if (worker.process && !worker.requests.empty())
        sockets.push_back({worker.process->descriptor(), POLLIN, 0});
    if (::poll(sockets.data(), sockets.size(), kPatienceMs) < 0 && errno != EINTR)
      throw EnvironmentError(
          fmt::format("workers cannot be heard: {}", std::generic_category().message(errno)));
  }

  void receive(Worker& worker) {
    std::vector<std::string> messages;
    const bool is_alive = worker.process->receive(messages);
    for (const std::string& message : messages) take_answer(worker, read_answer(message));
    if (!is_alive) end_worker(worker);
  }

  void take_answer(Worker& worker, WorkerAnswer answer) {
    if (answer.kind == WorkerAnswer::Kind::ready) {
      worker.is_ready = true, failed_starts_ = 0;
      return;
    }
    if (answer.kind == WorkerAnswer::Kind::environment) throw EnvironmentError(answer.text);
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - worker.last).count();
    worker.group_s += (seconds - worker.group_s) / 4;
    worker.last = now;
    Request request = std::move(worker.requests.front());
    worker.requests.pop_front();
    worker.cases -= request.group.numbers.size();
    if (answer.kind == WorkerAnswer::Kind::failure)
      return blame(std::move(request), fmt::format("with an error of the program: {}", answer.text), true);
    request.group.rows = std::move(answer.rows);
    how_.take(request.group);
  }

  /// Its first request is the one that ended it, unless it had not begun; the others go to other workers.
  void end_worker(Worker& worker) {
    const WorkerProcess::Ending ending = worker.process->ending();
    const bool has_begun = worker.is_ready;
    std::deque<Request> left = std::move(worker.requests);
    worker = {};
    if (!has_begun && ++failed_starts_ >= kMostFailedStarts)
      throw EnvironmentError(
          fmt::format("{} worker processes in a row ended before their first case, the last one {}",
                      failed_starts_, ending.text()));
    std::optional<Request> first;
    if (has_begun && !left.empty()) {
      first = std::move(left.front());
      left.pop_front();
    }
    waiting_.insert(waiting_.begin(), std::make_move_iterator(left.begin()),
                    std::make_move_iterator(left.end()));
    // Somebody may have killed the worker, or another process took the memory.
    if (first) blame(std::move(*first), ending.text(), ending.signal != SIGKILL);
  }

  /// A case that was not alone is tried again by itself, and one whose end is not certain once more.
  void blame(Request request, const std::string& ending, bool is_certain) {
    if (request.is_alone && (is_certain || ++request.endings > 1)) {
      request.group.rows = {CaseRow{std::string(kEndedCase) + ending, {}}};
      return how_.take(request.group);
    }
    for (std::size_t i = request.group.numbers.size(); i-- > 0;)
      waiting_.push_front(
          {{{request.group.numbers[i]}, {request.group.values[i]}, {}}, true, request.endings});
  }

  const SweptScenario& scenario_;
  SweepCases& cases_;
  const CaseWorkers& how_;
  std::vector<Worker> workers_;
  std::deque<Request> waiting_;
  std::int64_t next_;
  int failed_starts_ = 0;  ///< in a row
  bool is_stopped_ = false;
};

}  // namespace

void predict_cases(const SweptScenario& scenario, SweepCases& cases, const CaseWorkers& how) {
  BatchDealer(scenario, cases, how).run();
}

}  // namespace foretrain
