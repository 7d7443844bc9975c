// The open connections of a web server: how many there are, how long each may take, and which one gives way.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>

namespace foretrain {

using WebClock = std::chrono::steady_clock;

/// An open connection. Its whole request, head and body, must have arrived by `deadline`.
struct WebConnection {
  int socket = -1;
  WebClock::time_point begin, deadline;
  /// True while it waits for the client to send or to receive.
  bool waits = false;
  /// True when it was shut down to make room; it no longer counts.
  bool gives_way = false;
};

/// The connections of a server. Safe for use from several threads.
class WebConnections {
 public:
  using Handle = std::list<WebConnection>::iterator;

  /// `most` connections may be open at once; `for_request` is the time for a whole request.
  WebConnections(std::size_t most, std::chrono::milliseconds for_request)
      : most_(most), for_request_(for_request) {}

  /// Adds a connection and returns true. When all places are taken, the connection that has waited longest
  /// for its client is shut down, so that slow clients keep nobody out. When all connections are being
  /// answered, returns false, and the caller closes the socket.
  bool open(int socket, Handle& out);
  /// Closes the socket and removes the connection.
  void close(Handle connection);

  /// Waits until data can be read (POLLIN) or written (POLLOUT). Returns false when the time is over, or when
  /// the connection gave way.
  bool wait(Handle connection, short events, WebClock::time_point until);

 private:
  std::mutex mutex_;
  /// Open connections, oldest first.
  std::list<WebConnection> open_;
  std::size_t most_, counted_ = 0;
  std::chrono::milliseconds for_request_;
};

}  // namespace foretrain
