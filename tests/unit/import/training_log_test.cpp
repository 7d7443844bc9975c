// Tests of reading what training programs print, CSVs of rates, both CSV kinds of `validate`, and the facts
// of nvidia-smi.
#include "tests/support/catch.hpp"
#include "tests/unit/import/sample_logs.hpp"

namespace training_log_test {

using namespace foretrain;
using namespace foretrain::test;
using Lines = std::vector<std::string>;

namespace {

LogHints one_node(int gpus) {
  LogHints hints;
  hints.gpus = gpus, hints.nodes = 1;
  return hints;
}

}  // namespace

TEST_CASE("Horovod's synthetic benchmark gives its total, with the spread of the lines above it") {
  const SampleFile file = read_log(
      "Model: resnet50\nBatch size: 32\nNumber of GPUs: 4\nRunning benchmark...\nIter #0: 320.0 img/sec per "
      "GPU\nIter #1: 330.0 img/sec "
      "per GPU\n"
      "Img/sec per GPU: 325.0 +-9.8\nTotal img/sec on 4 GPU(s): 1300.0 +-39.2\n",
      one_node(0));
  CHECK(file.format == "training log");
  CHECK(file.rows == 4);
  CHECK(in_words(file) == Lines{"samples_per_s 0 1300 per_s model=resnet50 batch=32"});
  CHECK(file.samples[0].gpus == 4);
  CHECK(file.samples[0].repeats == 3);
  CHECK(file.samples[0].spread == Approx(5.0 / 325));  // deviation of 320, 330, 325
}

TEST_CASE("lines of throughput are repeats: the median and the spread") {
  const SampleFile file = read_log(
      "step 1 Throughput: 100 images/sec\nstep 2 Throughput: 120.0 images/sec\nstep 3 Throughput: 110.0 "
      "images/sec\n",
      one_node(2));
  CHECK(in_words(file) == Lines{"samples_per_s 0 110 per_s"});
  CHECK(file.samples[0].repeats == 3);
  CHECK(file.samples[0].spread == Approx(10.0 / 110));
}

TEST_CASE("progress bars, steps for each second and seconds for each step are steps") {
  CHECK(in_words(read_log("  2%|x| 1/50 [00:01<00:40,  4.00it/s]\r  4%|x| 2/50 [00:01<00:40,  5.00it/s]\r "
                          "6%|x| 3/50 [00:01<00:40, 5.00it/s]\n",
                          one_node(1))) == Lines{"step 0 200000 us"});
  CHECK(in_words(read_log("epoch 1: 2.50 s/it\n", one_node(1))) == Lines{"step 0 2.5e+06 us"});
  CHECK(in_words(read_log("100/100 [====] - 5s 50ms/step - loss: 0.5\n", one_node(1))) ==
        Lines{"step 0 50000 us"});
  CHECK(in_words(read_log(
            "{'train_runtime': 9.5, 'train_samples_per_second': 64.0, 'train_steps_per_second': 2.0}\n",
            one_node(1))) == Lines{"samples_per_s 0 64 per_s"});
  CHECK(in_words(read_log("total images/sec: 1250.50\n", one_node(4))) ==
        Lines{"samples_per_s 0 1250.5 per_s"});
}

TEST_CASE(
    "the benchmarks of TensorFlow: the total of all, the job by the command line, the batch of one device") {
  const SampleFile file = read_log(
      "mpirun -np 4 -H one:2,two:2 python tf_cnn_benchmarks.py\nModel:       resnet101\nBatch size:  256 "
      "global\n             64 per "
      "device\n"
      "Step\tImg/sec\ttotal_loss\n1\timages/sec: 205.0 +/- 0.0 (jitter = 0.0)\t9.111\n10\timages/sec: 204.0 "
      "+/- 0.1 (jitter = 0.6)\t9.228\n"
      "----\ntotal images/sec: 816.00\n----\n");
  CHECK(file.rows == 3);
  CHECK(in_words(file) == Lines{"samples_per_s 0 816 per_s model=resnet101 batch=64"});
  CHECK(file.samples[0].gpus == 4);
  CHECK(file.samples[0].nodes == 2);
  CHECK(read_log("mpirun -n 8 -npernode 4 python x\n10 samples/s\n").samples.at(0).nodes == 2);
}

TEST_CASE("a total of something else in the line does not make its rate that of all GPUs") {
  CHECK(in_words(read_log("step 1 total loss 0.5, 100 img/sec per GPU\n", one_node(4))) ==
        Lines{"samples_per_s 0 400 per_s"});
  CHECK(in_words(read_log("total loss 2, 90 img/sec\nTotal throughput: 360 samples/s\n", one_node(4))) ==
        Lines{"samples_per_s 0 360 per_s"});
}

TEST_CASE("what the user says of a training run stands in its settings") {
  LogHints hints = one_node(8);
  hints.model = "resnet50", hints.strategy = "ddp", hints.precision = "fp16", hints.batch_per_gpu = 64;
  CHECK(in_words(read_log("300 samples/s\n", hints)) ==
        Lines{"samples_per_s 0 300 per_s model=resnet50 strategy=ddp precision=fp16 batch=64"});
}

TEST_CASE("a training log that does not say on how many GPUs gives a reason, and no guess") {
  const SampleFile file = read_log("speed: 300 samples/s\n");
  CHECK(file.samples.empty());
  CHECK(left_out(file) == Lines{"1: the log does not say on how many GPUs it ran; state them"});
}

TEST_CASE("rates of zero, not a number and with decimal commas are left out") {
  const SampleFile file =
      read_log("0.0 samples/s\nnan samples/s: nan\nThroughput: 12,5\n10 samples/s\n", one_node(1));
  CHECK(in_words(file) == Lines{"samples_per_s 0 10 per_s"});
  CHECK(left_out(file) == Lines{"1: its rate is no positive number", "2: its rate is no positive number",
                                "3: its rate is no number"});
}

TEST_CASE("words that only look like rates are none") {
  CHECK(why_refused("wait/s and limits/s\n").find("holds no measurements of a known format") !=
        std::string::npos);
}

TEST_CASE("a CSV of rates groups rows under the same conditions") {
  const SampleFile file = read_log(
      "gpus,nodes,model,batch_per_gpu,steps_per_s\n4,1,resnet50,32,10\n4,1,resnet50,32,12\n4,1,resnet50,32,"
      "8\n8,2,resnet50,32,5\n8,2,"
      "resnet50,32,fast\n8,2\n");
  CHECK(file.format == "training CSV");
  CHECK(file.rows == 6);
  CHECK(in_words(file) ==
        Lines{"step 0 100000 us model=resnet50 batch=32", "step 0 200000 us model=resnet50 batch=32"});
  CHECK(file.samples[0].repeats == 3);
  CHECK(left_out(file) == Lines{"6: \"fast\" is no number", "7: 2 fields, the header has 5"});
}

TEST_CASE("both kinds of measurement CSV become samples that keep cluster and series") {
  const SampleFile collective = read_log(
      "series,cluster,op,gpus,nodes,bytes,time_us,settings,source\ns,puhti,all_reduce,8,2,1024,50.5,nccl."
      "protocol=ll,web\n"
      "s,puhti,all_reduce,8,2,1024,-1,,web\n");
  CHECK(collective.format == "measurements CSV");
  CHECK(collective.rows == 2);
  CHECK(in_words(collective) == Lines{"all_reduce 1024 50.5 us cluster=puhti series=s nccl.protocol=ll"});
  CHECK(left_out(collective) == Lines{"3: time_us must be a number more than zero"});
  const SampleFile training = read_log(
      "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\na,"
      "resnet50,puhti,ddp,fp32,32,8,2,"
      "samples_per_s,2400,,web\n"
      "a,resnet50,puhti,ddp,fp32,32,8,2,step_s,0.1,,web\na,resnet50,puhti,ddp,fp32,32,8,2,epoch_s,10,,web\n");
  CHECK(in_words(training) ==
        Lines{"samples_per_s 0 2400 per_s cluster=puhti series=a model=resnet50 strategy=ddp precision=fp32 "
              "batch=32",
              "step 0 100000 us cluster=puhti series=a model=resnet50 strategy=ddp precision=fp32 batch=32"});
  CHECK(left_out(training) ==
        Lines{"4: epochs and rates without a unit are no samples; samples_per_s and step_s are"});
}

TEST_CASE("nvidia-smi gives facts, and a remark for a link with fewer lanes than it has") {
  const SampleFile file = read_log(
      "<?xml version=\"1.0\" "
      "?>\n<nvidia_smi_log>\n<timestamp>Mon</timestamp><driver_version>550.1</"
      "driver_version><cuda_version>12.4</cuda_version>\n"
      "<attached_gpus>1</attached_gpus><gpu id=\"0\"><product_name>NVIDIA "
      "A100</product_name>\n<pci><pci_gpu_link_info><pcie_gen><max_link_gen>4</max_link_gen>"
      "<current_link_gen>4</current_link_gen></pcie_gen><link_widths><max_link_width>16x</"
      "max_link_width><current_link_width>8x</"
      "current_link_width></link_widths>"
      "</pci_gpu_link_info></pci><gpu_power_readings><current_power_limit>400.00 "
      "W</current_power_limit></gpu_power_readings>"
      "<max_clocks><sm_clock>1410 MHz</sm_clock></max_clocks></gpu></nvidia_smi_log>\n");
  CHECK(file.format == "nvidia-smi XML");
  CHECK(file.samples.empty());
  CHECK(file.provenance == Settings{{"driver", "550.1"},
                                    {"cuda", "12.4"},
                                    {"date", "Mon"},
                                    {"gpus", "1"},
                                    {"gpu", "NVIDIA A100"},
                                    {"power_limit", "400.00 W"},
                                    {"clock_sm_max", "1410 MHz"},
                                    {"pcie", "gen 4 x16"}});
  CHECK(left_out(file) == Lines{"5: remark: GPU 0 has 8 of 16 PCIe lanes"});
}

}  // namespace training_log_test
