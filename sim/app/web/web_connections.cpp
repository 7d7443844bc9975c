// A connection gives way by a shutdown of its socket, which ends the wait of the thread that serves it.
#include "sim/app/web/web_connections.hpp"

#include <algorithm>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace foretrain {

// When all places are taken, the connection that has waited longest for its client is shut down; its own
// thread closes it.
bool WebConnections::open(int socket, Handle& out) {
  const std::lock_guard hold(mutex_);
  if (counted_ >= most_) {
    const auto slowest =
        std::ranges::find_if(open_, [](const WebConnection& one) { return one.waits && !one.gives_way; });
    if (slowest == open_.end()) return false;
    // The connection no longer counts from here on, although its thread has not ended yet.
    slowest->gives_way = true, --counted_;
    ::shutdown(slowest->socket, SHUT_RDWR);
  }
  const WebClock::time_point now = WebClock::now();
  // It counts as waiting from the start, since its thread may not have begun.
  out = open_.insert(open_.end(),
                     {.socket = socket, .begin = now, .deadline = now + for_request_, .waits = true});
  ++counted_;
  return true;
}

// A connection that gave way was subtracted already.
void WebConnections::close(Handle connection) {
  const std::lock_guard hold(mutex_);
  if (!connection->gives_way) --counted_;
  ::shutdown(connection->socket, SHUT_RDWR);
  ::close(connection->socket);
  open_.erase(connection);
}

bool WebConnections::wait(Handle connection, short events, WebClock::time_point until) {
  {
    const std::lock_guard hold(mutex_);
    if (connection->gives_way) return false;
    connection->waits = true;
  }
  pollfd one{connection->socket, events, 0};
  // The wait is in steps of at most 60 s, so that the deadline fits into poll's argument.
  int ready = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - WebClock::now()).count();
    if (left <= 0) break;
    ready = ::poll(&one, 1, static_cast<int>(std::min<long long>(left, 60'000)));
  } while (ready <= 0);
  const std::lock_guard hold(mutex_);
  connection->waits = false;
  return ready > 0 && !connection->gives_way;
}

}  // namespace foretrain
