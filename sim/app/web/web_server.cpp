// What a page of another site can reach are names that lead here, and forms: both are told by their headers.
#include "sim/app/web/web_server.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/app/web/access_token.hpp"
#include "sim/app/web/loopback.hpp"
#include "sim/app/web/web_connections.hpp"
#include "sim/base/diagnostics.hpp"

#ifdef FORETRAIN_HTTPLIB
#include <httplib.h>
#endif

namespace foretrain {

#ifdef FORETRAIN_HTTPLIB

namespace {

using std::chrono::seconds;

constexpr std::size_t kMostConnections = 64;
/// Until the first byte, until the whole request, and for each part of a response.
constexpr seconds kSilent{1}, kForRequest{10}, kForPart{10};

/// "127.0.0.1:PORT", "[::1]:PORT" and "localhost:PORT", as a browser on this machine says.
bool is_own_host(const std::string& host, int port) {
  for (const char* name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  }
  return false;
}

bool is_own_origin(const httplib::Request& request, int port) {
  if (!request.has_header("Origin")) return true;
  const std::string origin = request.get_header_value("Origin");
  return origin.starts_with("http://") && is_own_host(origin.substr(7), port);
}

bool is_allowed(const httplib::Request& request, int port) {
  return request.get_header_value_count("Host") == 1 && is_own_host(request.get_header_value("Host"), port) &&
         is_own_origin(request, port);
}

void add_safety(httplib::Response& response) {
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Cache-Control", "no-store");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
}

/// As it is: cpp-httplib would pack text for a third of a second.
void send_as_it_is(httplib::Response& response, std::string body, const char* type) {
  const std::size_t size = body.size();
  response.set_content_provider(
      size, type, [text = std::move(body)](std::size_t from, std::size_t length, httplib::DataSink& sink) {
        return sink.write(text.data() + from, length);
      });
}

void add_routes(httplib::Server& http, const WebServer& server) {
  http.Get("/", [&server](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Encoding", "gzip");
    send_as_it_is(response, std::string(server.page), "text/html; charset=utf-8");
  });
  http.Get("/engine.json", [](const httplib::Request&, httplib::Response& response) {
    send_as_it_is(response, R"({"engine": "native"})", "application/json");
  });
  http.Post("/api/answer", [&server](const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& read) {
    if (request.is_multipart_form_data()) {
      response.status = 415;
      return;
    }
    std::string body;
    bool is_too_large = false;
    const auto take = [&](const char* data, std::size_t size) {
      is_too_large = is_too_large || size > server.largest_body - body.size();
      if (!is_too_large) body.append(data, size);
      return !is_too_large;
    };
    if (!read(take)) {
      response.status = is_too_large || response.status == 413 ? 413 : 400;
      return;
    }
    WebResponse answer = server.answer(body);
    response.status = answer.status;
    send_as_it_is(response, std::move(answer.body), "application/json");
  });
}

/// Port and name of a cookie: those of other ports of this machine come along.
std::string cookie_name(int port) { return fmt::format("foretrain-{}", port); }

bool has_token(const httplib::Request& request, const WebServer& server, int port) {
  if (server.token.empty() || is_same_secret(request.get_param_value("token"), server.token)) return true;
  for (std::size_t i = 0; i < request.get_header_value_count("Cookie"); ++i) {
    if (is_same_secret(cookie_value(request.get_header_value("Cookie", i), cookie_name(port)), server.token))
      return true;
  }
  return false;
}

/// The token leaves the address bar, where it would be copied along with the link, and becomes a cookie. That
/// comes with links of other pages, as those of the lesson have (SameSite=Lax), but not with what they post.
bool takes_token(const httplib::Request& request, const WebServer& server, int port,
                 httplib::Response& response) {
  if (server.token.empty() || request.path != "/" || !request.has_param("token")) return false;
  response.status = 303;
  response.set_header("Location", "/");
  response.set_header("Set-Cookie",
                      fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax", cookie_name(port), server.token));
  return true;
}

/// Answers what may not be asked, and what needs no route. Without the token nothing is told but how to get
/// it.
bool is_handled(const httplib::Request& request, const WebServer& server, int port,
                httplib::Response& response) {
  add_safety(response);
  response.status = 403;
  if (!is_allowed(request, port)) return true;
  if (!has_token(request, server, port)) {
    response.set_content("Open the address that `foretrain serve` printed: its token says who you are.\n",
                         "text/plain; charset=utf-8");
    return true;
  }
  response.status = -1;
  return takes_token(request, server, port, response);
}

/// A connection as cpp-httplib reads and writes it, with a deadline for the whole request.
class ConnectionStream : public httplib::Stream {
 public:
  ConnectionStream(WebConnections& connections, WebConnections::Handle connection)
      : connections_(connections), connection_(connection) {}

  bool is_readable() const override { return at_ < end_ || wait_to_read(); }
  bool is_writable() const override {
    return connections_.wait(connection_, POLLOUT, WebClock::now() + kForPart);
  }
  ssize_t read(char* to, std::size_t size) override {
    if (at_ == end_) {
      if (!wait_to_read()) return -1;
      const ssize_t got = ::recv(connection_->socket, block_.data(), block_.size(), 0);
      if (got <= 0) return got;
      at_ = 0, end_ = static_cast<std::size_t>(got), has_begun_ = true;
    }
    const std::size_t part = std::min(size, end_ - at_);
    std::copy_n(block_.data() + at_, part, to);
    at_ += part;
    return static_cast<ssize_t>(part);
  }
  ssize_t write(const char* from, std::size_t size) override {
    while (is_writable()) {
      const ssize_t sent = ::send(connection_->socket, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0 || (errno != EAGAIN && errno != EINTR)) return sent;
    }
    return -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = "127.0.0.1", port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = "127.0.0.1", port = 0; }
  socket_t socket() const override { return connection_->socket; }

 private:
  bool wait_to_read() const {
    return connections_.wait(connection_, POLLIN,
                             has_begun_ ? connection_->deadline : connection_->begin + kSilent);
  }

  WebConnections& connections_;
  WebConnections::Handle connection_;
  std::array<char, 4096> block_{};
  std::size_t at_ = 0, end_ = 0;
  bool has_begun_ = false;
};

/// cpp-httplib's requests and routes on connections of our own, one request on each: what is left of a
/// refused request's body is never taken for a request of its own.
class PageServer : public httplib::Server {
 public:
  PageServer(const WebServer& server, LoopbackSockets& sockets)
      : sockets_(sockets), connections_(kMostConnections, kForRequest) {
    svr_sock_ = sockets.sockets().front();  // it writes as long as it takes itself for running
    set_payload_max_length(server.largest_body);
    add_routes(*this, server);
    set_pre_routing_handler(
        [&server, port = sockets.port()](const httplib::Request& request, httplib::Response& response) {
          return is_handled(request, server, port, response) ? HandlerResponse::Handled
                                                             : HandlerResponse::Unhandled;
        });
  }

  [[noreturn]] void run() {
    for (;;) {
      const int socket = sockets_.accept();
      WebConnections::Handle connection;
      if (socket < 0) continue;
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (connections_.open(socket, connection))
        start(connection);
      else
        refuse(socket);
    }
  }

 private:
  void start(WebConnections::Handle connection) {
    try {
      std::thread([this, connection] { serve_one(connection); }).detach();
    } catch (const std::system_error&) {  // no more threads
      connections_.close(connection);
    }
  }

  void serve_one(WebConnections::Handle connection) {
    try {
      ConnectionStream stream(connections_, connection);
      bool is_closed = false;
      process_request(stream, true, is_closed, nullptr);
    } catch (const std::exception&) {  // as out of memory: the next one may have it
    }
    connections_.close(connection);
  }

  static void refuse(int socket) {
    constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    ::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(socket);
  }

  LoopbackSockets& sockets_;
  WebConnections connections_;
};

}  // namespace

void serve(const WebServer& server, const std::function<void(int port)>& ready) {
  LoopbackSockets sockets(server.port, server.or_another_port);
  PageServer http(server, sockets);
  ready(sockets.port());
  http.run();
}

#else

void serve(const WebServer&, const std::function<void(int port)>&) {
  throw WorldError(
      "this program was built without cpp-httplib (Debian: libcpp-httplib-dev), which serve needs");
}

#endif

}  // namespace foretrain
