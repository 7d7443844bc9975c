// Writes encoders of text: BERT and RoBERTa, with the head that the config's architecture names.
//
// The order of registration differs from the order of running: tables are registered as words, positions,
// types, but run as words, types, positions. The tied decoder has a bias that is registered ahead of it.
// Layers of type "parameter" stand for such early registrations.
#include <fmt/format.h>

#include "sim/import/models/config_families.hpp"

namespace foretrain {

namespace {

/// Embeddings and layers, which both families share. Norms follow the residual connections (post-norm).
constexpr std::string_view kEncoder = R"(description = "<title>, <tokens> tokens"
optimizer = "adamw"
input = [<tokens>]
input_is_tokens = true
layers = [
  { type = "embedding", entries = <words>, out = <width>, weights = "words", name = "word_embeddings" },
  { type = "parameter", out = <position_elements>, weights = "positions" },
  { type = "token_type", entries = <types>, name = "token_type_embeddings" },
  { type = "position", entries = <positions>, weights = "positions", name = "position_embeddings" },
  { type = "layer_norm" },
  { type = "dropout" },
  { type = "block", block = "encoder", repeat = <layers>, as = "sequence", name = "layer" },
<head>]

[blocks.encoder]
layers = [
  { type = "add", branches = [
    [
      { type = "attention", heads = <heads>, mask = true, dropout = true },
      { type = "dropout" },
    ],
    [],
  ] },
  { type = "layer_norm" },
  { type = "add", branches = [
    [
      { type = "linear", out = <inner> },
      <activation>,
      { type = "linear", out = <width> },
      { type = "dropout" },
    ],
    [],
  ] },
  { type = "layer_norm" },
]
)";

/// The pooler: a dense layer with tanh over the first token.
constexpr std::string_view kPooler = R"(  { type = "first_token" },
  { type = "linear", out = <width>, name = "pooler" },
  { type = "tanh", as = "pooled" },
)";
/// The head for masked words; its matrix is that of the embedding.
constexpr std::string_view kWords =
    R"(  { type = "parameter", part = "bias", out = <words>, weights = "words" },
  { type = "linear", from = "sequence", out = <width>, name = "transform" },
  <activation>,
  { type = "layer_norm" },
  { type = "linear", out = <words>, weights = "words", name = "decoder", as = "masked_words" },
)";
/// The two losses of BERT's pretraining: masked words and the next sentence.
constexpr std::string_view kBothTasks =
    R"(  { type = "linear", from = "pooled", out = 2, name = "seq_relationship", as = "next_sentence" },
  { type = "loss", from = "masked_words" },
  { type = "loss", from = "next_sentence" },
)";
/// BERT's head for classes of a text, behind the pooler.
constexpr std::string_view kPooledClasses = R"(  { type = "dropout" },
  { type = "linear", out = <labels>, name = "classifier" },
  { type = "loss" },
)";
/// RoBERTa's head for classes: it has a dense layer of its own in place of a pooler.
constexpr std::string_view kRobertaClasses = R"(  { type = "first_token" },
  { type = "dropout" },
  { type = "linear", out = <width>, name = "dense" },
  { type = "tanh" },
  { type = "dropout" },
  { type = "linear", out = <labels>, name = "out_proj" },
  { type = "loss" },
)";
/// The head for classes of every token, such as names of persons.
constexpr std::string_view kTokenClasses = R"(  { type = "dropout" },
  { type = "linear", out = <labels>, name = "classifier" },
  { type = "loss" },
)";
/// The head for answers within a text: logits of their first and last token, with a loss each.
constexpr std::string_view kAnswers = R"(  { type = "linear", out = 2, name = "qa_outputs", as = "answer" },
  { type = "slice", from = "answer", out = 1, offset = 0 },
  { type = "flatten", as = "first" },
  { type = "slice", from = "answer", out = 1, offset = 1 },
  { type = "flatten", as = "last" },
  { type = "loss", from = "first" },
  { type = "loss", from = "last" },
)";
/// The loss where the head has one result.
constexpr std::string_view kOneLoss = "  { type = \"loss\" },\n";

/// Returns the parts as one text.
std::string joined_parts(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

/// Chooses the head by the architecture's name; an unknown one predicts masked words, with a remark.
std::string encoder_head(const ConfigSource& source, bool is_roberta) {
  if (source.is_for("ForPreTraining") && !is_roberta) return joined_parts({kPooler, kWords, kBothTasks});
  if (source.is_for("ForSequenceClassification"))
    return is_roberta ? std::string(kRobertaClasses) : joined_parts({kPooler, kPooledClasses});
  if (source.is_for("ForTokenClassification")) return std::string(kTokenClasses);
  if (source.is_for("ForQuestionAnswering")) return std::string(kAnswers);
  if (source.architecture == "BertModel" || source.architecture == "RobertaModel")
    return joined_parts({kPooler, loss_without_head(source)});
  if (!source.is_for("ForMaskedLM"))
    source.remarks.push_back(source.architecture.empty()
                                 ? "the config names no architecture: taken with the head for masked words"
                                 : fmt::format("the head of {} is not known: taken as that for masked words",
                                               quotable(source.architecture)));
  return joined_parts({kWords, kOneLoss});
}

/// Fills the template. BERT and RoBERTa differ in the number of tokens and in their heads.
std::string write_encoder(const ConfigSource& source, bool is_roberta) {
  ConfigValues& values = source.values;
  const std::int64_t width = values.size({"hidden_size"}),
                     positions = values.size({"max_position_embeddings"});
  Filling fill;
  fill.put("title", quotable(source.architecture.empty() ? source.model_type : source.architecture));
  // RoBERTa counts positions from the padding's index on, so it takes two fewer tokens than it has rows.
  const std::int64_t most = is_roberta && positions > 2 ? positions - 2 : positions;
  fill.put("tokens", source.tokens(most, most)).put("width", width).put("positions", positions);
  fill.put("position_elements", positions * width).put("words", values.size({"vocab_size"}));
  fill.put("types", values.size_or({"type_vocab_size"}, 2)).put("layers", values.size({"num_hidden_layers"}));
  fill.put("heads", values.size({"num_attention_heads"})).put("inner", values.size({"intermediate_size"}));
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "gelu")));
  fill.put("labels", source.labels()).put("head", encoder_head(source, is_roberta));
  return fill.into(kEncoder);
}

}  // namespace

/// Both families are one writer with a flag.
std::string write_bert(const ConfigSource& source) { return write_encoder(source, false); }
std::string write_roberta(const ConfigSource& source) { return write_encoder(source, true); }

}  // namespace foretrain
