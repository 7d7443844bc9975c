// Deals the cases of a sweep to worker processes. The calling process sends groups of cases and receives
// their rows. A worker answers in the order of its requests, so the first request without an answer is the
// one during which it ended.
//
// Invariants: every case is in exactly one place: not yet dealt, in `waiting_`, in a worker's `requests`, or
// taken. A case that ended a worker is repeated alone, so that it can end nothing but its own worker. A sweep
// is therefore complete even when cases crash: they get a row with a message.
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

// A worker is sent this many seconds of work ahead, and at most this many groups and cases, for which its
// socket has room.
constexpr double kSecondsAhead = 0.1;
constexpr std::size_t kMostGroupsAhead = 64, kMostCasesAhead = 4096;
// Number of workers in a row that may end before their first case. More means that no worker can run here.
constexpr int kMostFailedStarts = 5;
// Milliseconds between two calls of stops() while no result comes.
constexpr int kPatienceMs = 100;

// A group of cases, or a part of it, that is sent to a worker.
struct Request {
  GroupRows group;
  // True for a single case that ended a worker, or whose group did.
  bool is_alone = false;
  // Workers that it has ended while it was alone.
  int endings = 0;
};

// A worker process with the requests that it has not answered.
struct Worker {
  std::unique_ptr<WorkerProcess> process;
  // Requests without an answer, oldest first.
  std::deque<Request> requests;
  // Cases in these requests.
  std::size_t cases = 0;
  // True when the worker has built its predictor.
  bool is_ready = false;
  // Running average of the seconds for one group.
  double group_s = kSecondsAhead;
  // Time of its last answer, or of its first request since it had none.
  Clock::time_point last = Clock::now();
};

/// Runs in the worker: answers requests until the other process is gone. An exception of a case becomes an
/// answer; only running out of memory ends the worker.
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

// The loop of the calling process: send, wait, receive, and ask whether to stop.
class BatchDealer {
 public:
  BatchDealer(const SweptScenario& scenario, SweepCases& cases, const CaseWorkers& how)
      : scenario_(scenario),
        cases_(cases),
        how_(how),
        workers_(static_cast<std::size_t>(how.workers)),
        // Groups of a shard are every how.shard.of-th one, beginning with its part.
        next_(how.shard.part - 1) {}

  void run() {
    // The end of a worker cannot be read while SIGCHLD is ignored.
    std::signal(SIGCHLD, SIG_DFL);
    while (true) {
      for (Worker& worker : workers_) send_requests(worker);
      // All cases are taken when nothing is left to send or on its way.
      if (std::ranges::all_of(workers_, [](const Worker& w) { return w.requests.empty(); })) return;
      wait();
      for (Worker& worker : workers_)
        if (worker.process) receive(worker);
      is_stopped_ = how_.stops() || is_stopped_;
    }
  }

 private:
  /// Returns the next group of the shard that has any case left; nothing at the end.
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

  /// Adds a case to the group unless it is done already or its conditions exclude it.
  void add(GroupRows& group, std::int64_t number) {
    if (std::ranges::binary_search(how_.done, number)) return;
    std::vector<Value> values = cases_.values(number);
    if (!cases_.is_case(number, values)) return;
    group.numbers.push_back(number);
    group.values.push_back(std::move(values));
  }

  /// Returns the next request for this worker. What other workers left behind comes first; a case that runs
  /// alone waits until the worker has no other requests.
  std::optional<Request> next_request(const Worker& worker) {
    if (is_stopped_) return std::nullopt;
    if (waiting_.empty()) return next_group();
    if (waiting_.front().is_alone && !worker.requests.empty()) return std::nullopt;
    std::optional<Request> out = std::move(waiting_.front());
    waiting_.pop_front();
    return out;
  }

  /// Returns true when the worker should get another request: it is idle, or has less than kSecondsAhead of
  /// work.
  static bool takes_more(const Worker& worker) {
    if (worker.requests.empty()) return true;
    const auto ahead = static_cast<std::size_t>(kSecondsAhead / std::max(worker.group_s, 1e-6));
    return !worker.requests.back().is_alone && worker.cases < kMostCasesAhead &&
           worker.requests.size() < std::clamp<std::size_t>(ahead, 1, kMostGroupsAhead);
  }

  /// Sends requests to the worker while it takes more, and starts its process when needed.
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

  /// Returns the numbers of GPUs of the group's cases, which are the last column of their values.
  static std::vector<int> gpus_of(const GroupRows& group) {
    std::vector<int> out;
    for (const std::vector<Value>& values : group.values)
      out.push_back(static_cast<int>(std::get<std::int64_t>(values.back().data)));
    return out;
  }

  /// Starts a new worker process with no requests.
  void start(Worker& worker) {
    worker = {};
    worker.process = std::make_unique<WorkerProcess>(
        [this](const WorkerSocket& socket) { answer_requests(socket, scenario_, cases_, how_); },
        how_.most_bytes);
  }

  /// Waits until a worker has answered, but not longer than kPatienceMs.
  void wait() {
    std::vector<pollfd> sockets;
    for (const Worker& worker : workers_)
      if (worker.process && !worker.requests.empty())
        sockets.push_back({worker.process->descriptor(), POLLIN, 0});
    if (::poll(sockets.data(), sockets.size(), kPatienceMs) < 0 && errno != EINTR)
      throw EnvironmentError(
          fmt::format("workers cannot be heard: {}", std::generic_category().message(errno)));
  }

  /// Takes all messages of the worker that have arrived, and handles its end.
  void receive(Worker& worker) {
    std::vector<std::string> messages;
    const bool is_alive = worker.process->receive(messages);
    for (const std::string& message : messages) take_answer(worker, read_answer(message));
    if (!is_alive) end_worker(worker);
  }

  /// Handles one answer. Throws EnvironmentError when the worker reports one.
  void take_answer(Worker& worker, WorkerAnswer answer) {
    if (answer.kind == WorkerAnswer::Kind::ready) {
      worker.is_ready = true, failed_starts_ = 0;
      return;
    }
    if (answer.kind == WorkerAnswer::Kind::environment) throw EnvironmentError(answer.text);
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - worker.last).count();
    // Exponential average with weight 1/4, so that a single slow group changes little.
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

  /// Handles the end of a worker. Its first request is the one that ended it, unless it had not begun; the
  /// others go back to the queue. Throws EnvironmentError after kMostFailedStarts workers that never began.
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
    // SIGKILL may come from elsewhere, for instance when another process used up the memory, so it is no
    // certain proof.
    if (first) blame(std::move(*first), ending.text(), ending.signal != SIGKILL);
  }

  /// Handles a request during which a worker ended. A case that was alone gets a row with the message, when
  /// it is certainly the cause or ended two workers. All others are queued again, one by one.
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
  // Workers in a row that ended before their first case.
  int failed_starts_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

void predict_cases(const SweptScenario& scenario, SweepCases& cases, const CaseWorkers& how) {
  BatchDealer(scenario, cases, how).run();
}

}  // namespace foretrain
