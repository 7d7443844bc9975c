// What a page of another site can reach are names that lead here, and forms: both are told by their headers.
#include "sim/app/web_server.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"

#ifdef FORETRAIN_HTTPLIB
#include <httplib.h>
#endif

namespace foretrain {

#ifdef FORETRAIN_HTTPLIB

namespace {

/// Connections that say nothing hold a thread for kSilentSeconds: a thousand of them are gone in 16 s.
constexpr int kThreads = 64, kSilentSeconds = 1, kReadSeconds = 5, kWriteSeconds = 10;
/// Of a connection: what is left of a refused request's body is never taken for a request of its own.
constexpr int kRequests = 1;

/// "127.0.0.1:PORT" and "localhost:PORT", as a browser on this machine says.
bool is_own_host(const std::string& host, int port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port) ||
         (port == 80 && (host == "127.0.0.1" || host == "localhost"));
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

void add_limits(httplib::Server& http, const WebServer& server) {
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http.set_payload_max_length(server.largest_body);
  http.set_read_timeout(kReadSeconds);
  http.set_write_timeout(kWriteSeconds);
  http.set_keep_alive_timeout(kSilentSeconds);
  http.set_keep_alive_max_count(kRequests);
  http.set_tcp_nodelay(true);
  // Not SO_REUSEPORT, the library's own choice: two servers would share a port unawares.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

}  // namespace

void serve(const WebServer& server, const std::function<void(int port)>& ready) {
  httplib::Server http;
  add_limits(http, server);
  add_routes(http, server);
  int port = server.port;
  http.set_pre_routing_handler([&port](const httplib::Request& request, httplib::Response& response) {
    add_safety(response);
    if (is_allowed(request, port)) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    return httplib::Server::HandlerResponse::Handled;
  });
  const bool is_bound =
      port == 0 ? (port = http.bind_to_any_port("127.0.0.1")) > 0 : http.bind_to_port("127.0.0.1", port);
  if (!is_bound)
    throw WorldError(fmt::format("port {} of 127.0.0.1 cannot be had; --port takes another", server.port));
  ready(port);
  http.listen_after_bind();
}

#else

void serve(const WebServer&, const std::function<void(int port)>&) {
  throw WorldError(
      "this program was built without cpp-httplib (Debian: libcpp-httplib-dev), which serve needs");
}

#endif

}  // namespace foretrain
