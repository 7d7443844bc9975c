// A forked process that answers requests over a socket: both ends, and how it ended.
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
  /// The next request; false when the other process has gone.
  bool receive(std::string& message) const;
  void send(std::string_view message) const;

 private:
  int socket_;
};

/// Ends with the object, killed if need be, and with the process that has it. Ctrl-C and SIGTERM are left to
/// that process. Not for a process of several threads.
class WorkerProcess {
 public:
  /// `work` runs in the new process, which ends when it returns. `most_bytes`: memory it may take; 0: no
  /// limit. Throws EnvironmentError when the system has no process left.
  WorkerProcess(const std::function<void(const WorkerSocket&)>& work, std::uint64_t most_bytes);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int descriptor() const { return socket_; }  ///< for poll()
  /// Waits while the socket's buffer is full. A process that has ended is no error: receive() says so.
  void send(std::string_view message) const;
  /// Appends the messages that have arrived, without waiting; false when the process has ended.
  bool receive(std::vector<std::string>& messages);

  /// How a process ended.
  struct Ending {
    int signal = 0, exit_code = 0;
    bool out_of_memory = false;
    /// "by SIGSEGV", "with exit code 1", as the end of a sentence.
    std::string text() const;
  };
  /// Waits for its end.
  Ending ending();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
  std::string arrived_;
};

}  // namespace foretrain
