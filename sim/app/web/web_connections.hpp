// The connections of a web server: how many there are, how long each may take, and which gives way.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>

namespace foretrain {

using WebClock = std::chrono::steady_clock;

/// An open connection. Its request, head and body together, has to be there by `deadline`.
struct WebConnection {
  int socket = -1;
  WebClock::time_point begin, deadline;
  bool waits = false;      ///< for the client, to send or to take
  bool gives_way = false;  ///< is hung up on, and does not count any more
};

/// Safe to use from several threads.
class WebConnections {
 public:
  using Handle = std::list<WebConnection>::iterator;

  WebConnections(std::size_t most, std::chrono::milliseconds for_request)
      : most_(most), for_request_(for_request) {}

  /// Takes a connection on. When there are as many as may be, the one that has waited for its client longest
  /// is hung up on, so that slow clients keep nobody away; when all are being answered this one is refused,
  /// and stays the caller's to close.
  bool open(int socket, Handle& out);
  /// Closes its socket and forgets it.
  void close(Handle connection);

  /// Waits until data can be read (POLLIN) or written (POLLOUT), or the time is over; false: it is, or the
  /// connection gave way.
  bool wait(Handle connection, short events, WebClock::time_point until);

 private:
  std::mutex mutex_;
  std::list<WebConnection> open_;
  std::size_t most_, counted_ = 0;
  std::chrono::milliseconds for_request_;
};

}  // namespace foretrain
