// The network, the data set and the arguments of a training program, by the names that its libraries have.
#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace python_network_test {

using namespace foretrain;

namespace {

const std::string kBegin = "import torch\n";

TrainingSettings read(const std::string& text, const std::vector<ShellWord>& words = {}) {
  test::use_source_catalogs();
  SettingsContext context;
  context.words = &words;
  return read_settings({"train.py", kBegin + text}, context);
}

std::string model(const std::string& text, const std::vector<ShellWord>& words = {}) {
  return value_of(read(text, words), "model.name");
}

std::string note_of(const std::string& text, std::string_view path) {
  for (const ReadKey& key : read(text).keys)
    if (key.path == path && key.fate == KeyFate::open) return key.note;
  return "";
}

std::vector<ShellWord> words(const std::vector<std::string>& texts) {
  std::vector<ShellWord> out;
  for (const std::string& text : texts) out.push_back({text, true, false, {1, 1, 1}});
  return out;
}

}  // namespace

TEST_CASE("a network is known by the name that its library is asked for") {
  struct Row {
    std::string call, name;
  };
  const Row rows[] = {
      {"m = torchvision.models.resnet50(num_classes=10)", "resnet50"},
      {"m = models.vit_b_16()", "vit_b_16"},
      {"from torchvision.models import vgg16, resnet18\nm = resnet18(weights=None)", "resnet18"},
      {"from torchvision.models import (\n  resnext50_32x4d,\n)\nm = resnext50_32x4d()", "resnext50_32x4d"},
      {"m = timm.create_model('vit_base_patch16_224', pretrained=True)", "vit_base_patch16_224"},
      {"m = torch.hub.load('pytorch/vision', 'resnet101')", "resnet101"},
      {"m = tf.keras.applications.ResNet50(weights=None)", "resnet50"},
      {"m = AutoModelForCausalLM.from_pretrained('meta-llama/Meta-Llama-3-8B-Instruct')", "llama3_8b"},
      {"m = AutoModelForCausalLM.from_pretrained('mistralai/Mistral-7B-v0.1')", "mistral_7b"},
      {"m = BertForMaskedLM.from_pretrained('bert-base-uncased')", "bert_base_uncased"},
      {"NAME = 'roberta-large'\nm = AutoModelForSequenceClassification.from_pretrained(NAME)",
       "roberta_large"},
      {"m = UNet2DConditionModel.from_pretrained('runwayml/stable-diffusion-v1-5', subfolder='unet')",
       "sd15_unet"},
  };
  for (const Row& row : rows) {
    INFO(row.call);
    CHECK(model(row.call + "\n") == "\"" + row.name + "\"");
  }
}

TEST_CASE("tokenizers, text encoders and networks from layers name no network") {
  for (const char* text : {"t = AutoTokenizer.from_pretrained('gpt2')\nm = DDP(Net())\n",
                           "m = DDP(nn.Sequential(nn.Linear(1, 1)))\n",
                           "e = CLIPTextModel.from_pretrained('x/stable-diffusion-v1-5', "
                           "subfolder='text_encoder')\nm = DDP(m)\n"}) {
    INFO(text);
    CHECK(model(text).empty());
  }
  CHECK_THAT(note_of("a = models.resnet18()\nb = models.resnet50()\n", "network"),
             ContainsSubstring("resnet18 and resnet50"));
  CHECK_THAT(note_of("m = timm.create_model(choose())\n", "network"), ContainsSubstring("--model NAME"));
}

TEST_CASE("arguments of argparse are those of the command line, else their defaults") {
  const std::string text =
      "p = argparse.ArgumentParser()\np.add_argument('-a', '--arch', default='resnet18')\n"
      "p.add_argument('--bs', type=int, default=32)\np.add_argument('--lr', type=float)\nns = "
      "p.parse_args()\n"
      "loader = DataLoader(data, batch_size=ns.bs, num_workers=ns.lr)\n";
  const std::string by_name = text + "m = models.__dict__[ns.arch]()\n";
  CHECK(model(by_name) == "\"resnet18\"");
  CHECK(model(by_name, words({"--arch", "resnet50"})) == "\"resnet50\"");
  CHECK(model(by_name, words({"-a", "resnet101"})) == "\"resnet101\"");
  CHECK(model(text + "m = getattr(torchvision.models, ns.arch)()\n", words({"--arch=resnet34"})) ==
        "\"resnet34\"");
  CHECK(value_of(read(by_name), "model.batch_per_gpu") == "32");
  CHECK(value_of(read(by_name, words({"--bs", "64"})), "model.batch_per_gpu") == "64");
  CHECK(value_of(read(by_name), "data.workers_per_gpu").empty());
  CHECK(value_of(read("ns.bs = ns.bs // 4\n" + by_name), "model.batch_per_gpu").empty());
}

TEST_CASE(
    "the data set of a program says how many samples an epoch has, and whether the network fits its images") {
  const std::string cifar = "d = torchvision.datasets.CIFAR10('.', transform=t)\n";
  CHECK(value_of(read(cifar + "m = DDP(Net())\n"), "data.set") == "\"cifar10\"");
  CHECK(value_of(read("d = tf.keras.datasets.mnist.load_data()\nm = DDP(Net())\n"), "data.set") ==
        "\"mnist\"");
  CHECK_THAT(note_of(cifar + "m = models.resnet50()\n", "network"),
             ContainsSubstring("resnet50 of the catalog has larger images than cifar10"));
  CHECK(model("t = transforms.Resize(224)\n" + cifar + "m = models.resnet50()\n") == "\"resnet50\"");
}

TEST_CASE("tokens of a sample are those that a tokenizer cuts to") {
  const std::string text = "m = AutoModelForMaskedLM.from_pretrained('roberta-base')\n";
  CHECK(value_of(read(text + "x = ds.map(lambda b: tok(b, max_length=256))\n"), "model.sequence_length") ==
        "256");
  const TrainingSettings cut = read(text + "x = tokenizer(t, truncation=True, max_length=128)\n");
  CHECK(value_of(cut, "model.sequence_length") == "128");
  CHECK(value_of(read(text), "model.sequence_length").empty());
}

}  // namespace python_network_test
