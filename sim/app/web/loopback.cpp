// Opens sockets on the loopback addresses. SO_REUSEPORT is not set, since two servers could then share a port
// without noticing.
#include "sim/app/web/loopback.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

// Connections that may wait to be accepted.
constexpr int kWaiting = 1024;

/// Returns a listening socket, or -1. SO_REUSEADDR allows a restart while old connections are still closing.
template <typename Address>
int listening(int family, const Address& address) {
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // An IPv6 socket without this option could take over the IPv4 port as well.
  if (family == AF_INET6) ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket, generic, sizeof address) == 0 && ::listen(socket, kWaiting) == 0) return socket;
  ::close(socket);
  return -1;
}

int listening_on_ipv4(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return listening(AF_INET, address);
}

int listening_on_ipv6(int port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  address.sin6_addr = in6addr_loopback;
  return listening(AF_INET6, address);
}

/// Returns the port of the socket, which the system chooses for port 0.
int port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

// IPv4 comes first and decides the port; IPv6 gets the same port when it is free.
LoopbackSockets::LoopbackSockets(int port, bool or_another) {
  int first = listening_on_ipv4(port);
  if (first < 0 && or_another && port != 0) first = listening_on_ipv4(0);
  if (first < 0)
    throw EnvironmentError(
        fmt::format("port {} of 127.0.0.1 cannot be had; --port takes another, 0 any that is free", port));
  sockets_.push_back(first);
  port_ = port_of(first);
  if (const int second = listening_on_ipv6(port_); second >= 0) sockets_.push_back(second);
}

LoopbackSockets::~LoopbackSockets() {
  for (const int socket : sockets_) ::close(socket);
}

// All sockets are polled together; the first that is ready is served.
int LoopbackSockets::accept() {
  std::vector<pollfd> waiting;
  for (const int socket : sockets_) waiting.push_back({socket, POLLIN, 0});
  if (::poll(waiting.data(), waiting.size(), -1) <= 0) return -1;
  for (const pollfd& one : waiting) {
    if (one.revents == 0) continue;
    const int connection = ::accept4(one.fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) return connection;
    // Too many files are open. Some will be closed soon, and without a pause this would be a busy loop.
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return -1;
}

}  // namespace foretrain
