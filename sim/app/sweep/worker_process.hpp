// A forked process that answers requests over a socket: both of its ends, and how it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace foretrain {

/// The worker's end of the socket.
class WorkerSocket {
 public:
  explicit WorkerSocket(int socket) : socket_(socket) {}
  /// Waits for the next request. Returns false when the parent is gone.
  bool receive(std::string& message) const;
  /// Sends an answer; ends the worker when the parent is gone.
  void send(std::string_view message) const;

 private:
  int socket_;
};

/// A worker process. It is killed when the object is destroyed or when this process dies. Ctrl-C and SIGTERM
/// are left to this process. Precondition: this process has one thread.
class WorkerProcess {
 public:
  /// Starts the process, in which `work` runs; it ends when `work` returns. `most_bytes` limits its memory;
  /// 0: no limit. Throws EnvironmentError when no process can be started.
  WorkerProcess(const std::function<void(const WorkerSocket&)>& work, std::uint64_t most_bytes);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Returns the file descriptor to poll().
  int descriptor() const { return socket_; }
  /// Sends a request, and waits while the socket's buffer is full. A process that has ended is no error:
  /// receive() reports it.
  void send(std::string_view message) const;
  /// Appends the messages that have arrived, without waiting. Returns false when the process has ended.
  bool receive(std::vector<std::string>& messages);

  /// The end of a process.
  struct Ending {
    int signal = 0, exit_code = 0;
    bool out_of_memory = false;
    /// Returns "by SIGSEGV" or "with exit code 1", as the end of a sentence.
    std::string text() const;
  };
  /// Waits for the end of the process and returns how it ended.
  Ending ending();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
  /// Received bytes that are not a whole message yet.
  std::string arrived_;
};

}  // namespace foretrain
