// Lines of JSON, the document's two forms, and what is private.
#include "sim/app/machine/privacy.hpp"
#include "sim/import/logs/measured_steps.hpp"
#include "sim/report/calibration/document.hpp"
#include "tests/support/catch.hpp"

namespace machine_lines_test {

using namespace foretrain;

TEST_CASE("a line of a measured step is read, with what is not there left open") {
  const SourceText source{
      "steps.jsonl",
      R"({"network":"resnet50","kind":"cnn","precision":"pure_bf16","batch":64,"compile":true,"channels_last":true,)"
      R"("optimizer":"adamw","settings":{"strategy.accumulation":4},"step_s":0.04,"spread":0.1,"steps":24,)"
      R"("host_s":null,"launches":812,"memory":{"parameters":5e6,"allocated_peak":null},"error":null,"when":"2026"})"
      "\n"
      R"({"network":"a","precision":"fp32","step_s":null,"error":"out of memory"})"
      "\n"
      R"({"network":"a","precision":"fp32","step_s":0.1)"};
  const MeasuredLines<MeasuredStep> lines = read_measured_steps(source);
  CHECK(lines.skipped.empty());
  REQUIRE(lines.rows.size() == 2);
  const MeasuredStep& step = lines.rows[0];
  CHECK((step.compiled && step.channels_last && step.batch == 64 && step.launches == 812));
  CHECK(step.settings == Settings{{"strategy.accumulation", "4"}});
  CHECK((step.memory.parameters == 5e6 && !step.memory.allocated_peak && !step.host_s));
  CHECK((!lines.rows[1].step_s && lines.rows[1].error == "out of memory"));
}

TEST_CASE("a line that is no measured step is left out with its reason") {
  const auto why = [](const std::string& line) {
    const MeasuredLines<MeasuredStep> lines = read_measured_steps({"steps.jsonl", line + "\n"});
    return lines.skipped.empty() ? "" : lines.skipped.front().why;
  };
  CHECK(why("[1]") == "it is no JSON object");
  CHECK(why("{") == "it is no JSON object");
  CHECK(why(R"({"network":"../a","precision":"fp32","step_s":1})") == "\"network\" is no plain name");
  CHECK(why(R"({"network":"a","precision":"fp32","step_s":-1})") ==
        "\"step_s\" is no number from 1e-09 to 1e+09");
  CHECK(why(R"({"network":"a","precision":"fp32"})") == "it has neither \"step_s\" nor \"error\"");
  CHECK_THAT(why(R"({"network":"a","precision":"fp32","step_s":1,"settings":{"a.b":"c;d=e"}})"),
             ContainsSubstring("is not key=value"));
}

TEST_CASE("kernels of a CPU have the host's time, and sums are no kernels") {
  const MeasuredLines<MeasuredKernel> lines = read_measured_kernels(
      {"kernels.jsonl",
       R"({"network":"a","precision":"fp32","batch":2,"op":"x","kind":"convolution","gpu_s":null,"host_s":0.5})"
       "\n"
       R"({"network":"a","precision":"fp32","batch":2,"op":"total","kind":"total","launches":3})"
       "\n"});
  REQUIRE(lines.rows.size() == 1);
  CHECK(lines.rows[0].seconds == 0.5);
}

TEST_CASE("a document escapes what its two forms would read as their own") {
  const Document document{"A <b>",
                          {{"Empty", {}, {}, {}}, {"One", {"5 * 3 | 2"}, {{"a", "n"}, {{"x|y", "1"}}}, {}}}};
  CHECK(write_markdown(document) ==
        "# A \\<b\\>\n\n## One\n\n5 \\* 3 \\| 2\n\n| a | n |\n|---|---:|\n| x\\|y | 1 |\n");
  const std::string page = write_html_page(document);
  CHECK_THAT(page, ContainsSubstring("<h1>A &lt;b&gt;</h1>") && ContainsSubstring("<td class=\"n\">1</td>") &&
                       !ContainsSubstring("Empty"));
}

TEST_CASE("paths keep their last part, and private words are left out as wholes") {
  CHECK(shareable("in /home/ann/x/a.py, line 3: 12 images/s", {"ann"}) == "in a.py, line 3: 12 images/s");
  CHECK(shareable("ann on node-3", {"ann", "node-3"}) == "… on …");
  CHECK(shareable("banner", {"ann"}) == "banner");
  CHECK(private_word_in("a run of ann.", {"bob", "ann"}) == "ann");
  CHECK(private_word_in("annual", {"ann"}).empty());
}

}  // namespace machine_lines_test
