// Stores of evidence: what is written is read again, and what is wrong is shown at its place.
#include "sim/scenario/csv/evidence_rows.hpp"

#include "tests/support/catch.hpp"

namespace evidence_rows_test {

using namespace foretrain;

namespace {

Observation row() {
  Observation r;
  r.source = "Smith, \"et al.\"", r.run = "run 1", r.model = "resnet50", r.gpu = "v100", r.cluster = "puhti";
  r.size = 32, r.gpus = 4, r.nodes = 2, r.measured = 0.11, r.predicted = 0.1, r.version = "1.2";
  return r;
}

std::vector<Observation> read(const std::string& text, std::string* mistakes = nullptr,
                              bool* torn = nullptr) {
  const SourceText source{"e.csv", text};
  Diagnostics diagnostics(source);
  EvidenceTable table;
  const bool is_torn = read_evidence(source, diagnostics, table);
  if (torn != nullptr) *torn = is_torn;
  if (mistakes != nullptr) *mistakes = diagnostics.empty() ? "" : format(diagnostics.found());
  return table.observations();
}

std::string mistakes_of(const std::string& text) {
  std::string mistakes;
  read(text, &mistakes);
  return mistakes;
}

}  // namespace

TEST_CASE("a row that is written is read again, with quotes, commas and characters that act on a terminal") {
  Observation hostile = row();
  hostile.run = "a\n\x1b[31mstep,own\"";
  const std::vector<Observation> rows =
      read(evidence_heading() + evidence_line(row()) + evidence_line(hostile));
  REQUIRE(rows.size() == 2);
  CHECK(is_same_run(rows[0], row()));
  CHECK(rows[0].run == "run 1");
  CHECK(rows[0].measured == 0.11);
  CHECK(rows[1].run == "a\\u000a\\u001b[31mstep,own\"");
}

TEST_CASE("a last row without its end is a writer's that was interrupted, and the others stay") {
  bool torn = false;
  std::string mistakes;
  const std::string line = evidence_line(row());
  CHECK(read(evidence_heading() + line + line.substr(0, 20), &mistakes, &torn).size() == 1);
  CHECK(torn);
  CHECK(mistakes.empty());
}

TEST_CASE("another version, other columns and other files are refused with what they should be") {
  CHECK_THAT(mistakes_of("# foretrain evidence 2\n"), ContainsSubstring("evidence of another version, 2"));
  CHECK_THAT(mistakes_of("# foretrain evidence 1\nwhat,model\n"), ContainsSubstring("the columns are not"));
  CHECK_THAT(mistakes_of("model,cluster\n"), ContainsSubstring("is no evidence store"));
  CHECK_THAT(mistakes_of(std::string("# fo\0re", 7)), ContainsSubstring("is not a text file"));
  CHECK_THAT(mistakes_of(""), ContainsSubstring("is empty"));
}

TEST_CASE("a row in another unit is refused with what was expected, and every mistake is shown") {
  Observation wrong = row();
  wrong.measured = 110;
  std::string text = evidence_heading() + evidence_line(wrong);
  Observation negative = row();
  negative.measured = -1;
  text += evidence_line(negative) + "step,a\n";
  const std::string mistakes = mistakes_of(text);
  CHECK_THAT(mistakes, ContainsSubstring("e.csv:3:"));
  CHECK_THAT(mistakes, ContainsSubstring("measured is 1.1e+03 times what was predicted, 0.1 s"));
  CHECK_THAT(mistakes, ContainsSubstring("e.csv:4:"));
  CHECK_THAT(mistakes, ContainsSubstring("2 fields, a row of evidence has 20"));
}

TEST_CASE("a text is kept once, whatever row and column it stands in, and found again") {
  EvidenceTable table({row(), row()});
  Observation other = row();
  other.model = "v100", other.gpu = "";
  table.add(other);
  REQUIRE(table.size() == 3);
  CHECK(is_same_run(table.rows()[0], table.rows()[1]));
  CHECK_FALSE(is_same_run(table.rows()[0], table.rows()[2]));
  CHECK(table.rows()[2].text(RowText::model) == table.rows()[0].text(RowText::gpu));
  CHECK(table.rows()[2].text(RowText::gpu) == 0);
  CHECK(table.find("nobody's") == kUnknownText);
  CHECK(table.observation(table.rows()[0]).source == row().source);
  CHECK(table.comes_before(table.rows()[0], table.rows()[2]) == comes_before(row(), other));
  for (int i = 0; i < 1000; ++i) table.texts().id_of(std::to_string(i));
  CHECK(table.observation(table.rows()[2]).cluster == "puhti");
}

TEST_CASE("only rows of the kind that is wanted are looked at, and those of another version can go") {
  Observation call = row();
  call.what = Observed::collective, call.version = "1.1";
  const std::string text = evidence_heading() + evidence_line(call) + evidence_line(row());
  const SourceText source{"e.csv", text};
  Diagnostics diagnostics(source);
  EvidenceTable trainings, all;
  read_evidence(source, diagnostics, trainings, EvidenceOf::trainings);
  REQUIRE(trainings.size() == 1);
  CHECK(trainings.rows()[0].what == Observed::step);
  read_evidence(source, diagnostics, all);
  const TextId other = all.find("1.1");
  const auto is_other = [other](const StoredRow& r) { return r.text(RowText::version) == other; };
  CHECK(all.erase_if(1, is_other) == 0);
  CHECK(all.erase_if(0, is_other) == 1);
  CHECK(all.size() == 1);
}

}  // namespace evidence_rows_test
