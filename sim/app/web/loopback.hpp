// Sockets that listen on the loopback addresses, 127.0.0.1 and, with IPv6, ::1.
#pragma once

#include <vector>

namespace foretrain {

/// Owns the listening sockets and closes them at its end. Processes that are started do not inherit them
/// (close-on-exec).
class LoopbackSockets {
 public:
  /// Listens on a port of both addresses; 0 means any free port. When the port is not available on IPv6, only
  /// 127.0.0.1 is used. Throws EnvironmentError when the port of 127.0.0.1 is taken, unless `or_another`
  /// allows a free one instead.
  LoopbackSockets(int port, bool or_another);
  ~LoopbackSockets();
  LoopbackSockets(const LoopbackSockets&) = delete;
  LoopbackSockets& operator=(const LoopbackSockets&) = delete;

  /// Returns the port, which is the same for all sockets.
  int port() const { return port_; }
  /// Returns the sockets; that of 127.0.0.1 comes first.
  const std::vector<int>& sockets() const { return sockets_; }

  /// Waits for the next connection and returns it; started processes do not inherit it. Returns -1 when the
  /// wait ended without a connection.
  int accept();

 private:
  int port_ = 0;
  std::vector<int> sockets_;
};

}  // namespace foretrain
