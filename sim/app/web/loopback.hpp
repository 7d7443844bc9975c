// Sockets that listen on this machine's own addresses, 127.0.0.1 and, where there is IPv6, ::1.
#pragma once

#include <vector>

namespace foretrain {

/// Closes what it holds. No process that is started inherits its sockets (close-on-exec).
class LoopbackSockets {
 public:
  /// Listens on a port of both addresses; 0: one that is free. Of IPv6 the port may be taken, or there may be
  /// none: then it is 127.0.0.1 alone. Throws EnvironmentError when the port of 127.0.0.1 cannot be had;
  /// `or_another` takes a free one instead.
  LoopbackSockets(int port, bool or_another);
  ~LoopbackSockets();
  LoopbackSockets(const LoopbackSockets&) = delete;
  LoopbackSockets& operator=(const LoopbackSockets&) = delete;

  int port() const { return port_; }
  const std::vector<int>& sockets() const { return sockets_; }  ///< the one of 127.0.0.1 first

  /// The next connection, which no started process inherits; waits for it. -1: there was none after all.
  int accept();

 private:
  int port_ = 0;
  std::vector<int> sockets_;
};

}  // namespace foretrain
