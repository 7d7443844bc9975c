// Connections of the web server: which gives way, and that each wait ends.
#include "sim/app/web/web_connections.hpp"

#include <array>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/app/web/loopback.hpp"
#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace web_connections_test {

using namespace foretrain;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Both ends of a connection; the server's is the connections' to close.
struct Ends {
  int client = -1, server = -1;
  Ends() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    client = ends[0], server = ends[1];
  }
  ~Ends() { ::close(client); }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  bool is_hung_up_on() const {
    char byte = 0;
    return ::recv(client, &byte, 1, MSG_DONTWAIT) == 0;
  }
};

}  // namespace

TEST_CASE("the connection that has waited longest gives way to a new one") {
  WebConnections connections(2, seconds(10));
  Ends a, b, c, d;
  WebConnections::Handle first, second, third, fourth;
  REQUIRE(connections.open(a.server, first));
  REQUIRE(connections.open(b.server, second));
  REQUIRE(connections.open(c.server, third));
  CHECK(a.is_hung_up_on());
  CHECK_FALSE(b.is_hung_up_on());
  CHECK_FALSE(connections.wait(first, POLLIN, WebClock::now() + seconds(60)));
  connections.close(first);  // counts no more: it gave way
  REQUIRE(connections.open(d.server, fourth));
  CHECK(b.is_hung_up_on());
  CHECK_FALSE(c.is_hung_up_on());
  for (const auto& one : {second, third, fourth}) connections.close(one);
}

TEST_CASE("connections that are being answered give way to nobody, and a new one is refused") {
  WebConnections connections(1, seconds(10));
  Ends a, b;
  WebConnections::Handle first, second;
  REQUIRE(connections.open(a.server, first));
  REQUIRE(::send(a.client, "x", 1, 0) == 1);
  REQUIRE(connections.wait(first, POLLIN, WebClock::now() + seconds(60)));  // its request came
  CHECK_FALSE(connections.open(b.server, second));
  CHECK_FALSE(a.is_hung_up_on());
  connections.close(first);
  REQUIRE(connections.open(b.server, second));
  connections.close(second);
}

TEST_CASE("a wait ends when its time is over, also when it is over already") {
  WebConnections connections(1, milliseconds(1));
  Ends a;
  WebConnections::Handle first;
  REQUIRE(connections.open(a.server, first));
  CHECK_FALSE(connections.wait(first, POLLIN, WebClock::now() + milliseconds(5)));
  CHECK_FALSE(connections.wait(first, POLLIN, WebClock::now() - seconds(5)));
  CHECK(connections.wait(first, POLLOUT, WebClock::now() + seconds(60)));
  connections.close(first);
  CHECK(a.is_hung_up_on());
}

TEST_CASE(
    "a port that is taken is an error, or another one is taken, and started programs inherit no socket") {
  const LoopbackSockets first(0, false);
  CHECK(first.port() > 0);
  CHECK_THROWS_AS(LoopbackSockets(first.port(), false), EnvironmentError);
  const LoopbackSockets second(first.port(), true);
  CHECK(second.port() != first.port());
  for (const int socket : second.sockets()) CHECK((::fcntl(socket, F_GETFD) & FD_CLOEXEC) != 0);
}

}  // namespace web_connections_test
