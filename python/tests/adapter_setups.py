"""Set-ups of adapters for the networks of real_networks: which layers attention and perceptrons have, by families."""

LLAMA = (["q_proj", "k_proj", "v_proj", "o_proj"], ["gate_proj", "up_proj", "down_proj"])
ENCODER = (["q_proj", "k_proj", "v_proj", "out_proj"], ["fc1", "fc2"])

# A beginning of a network's name, its layers of attention, and those of its perceptrons.
FAMILIES = (
    ("smollm", *LLAMA), ("llama", *LLAMA), ("mistral", *LLAMA), ("qwen", *LLAMA), ("gemma", *LLAMA),
    ("phi", ["qkv_proj", "o_proj"], ["gate_up_proj", "down_proj"]),
    ("whisper", *ENCODER), ("clip", *ENCODER), ("siglip", *ENCODER),
    ("wav2vec2", ENCODER[0], ["intermediate_dense", "output_dense"]),
    ("dinov2_giant", ENCODER[0][:3] + ["o_proj"], LLAMA[1]),
    ("dinov2", ENCODER[0][:3] + ["o_proj"], ["fc1", "fc2"]),
    ("vit_", ["qkv"], ["fc1", "fc2"]),
    ("t5", ["q", "k", "v", "o"], ["wi", "wo"]), ("flan_t5", ["q", "k", "v", "o"], ["wi_0", "wi_1", "wo"]),
    ("modernbert", ["Wqkv"], ["Wi"]),
    ("segformer", ENCODER[0][:3] + ["o_proj"], ["fc1", "fc2"]),
    ("sd15", ["to_q", "to_k", "to_v", "to_out.0"], ["ff.net.0.proj", "ff.net.2"]),
    ("sd21", ["to_q", "to_k", "to_v", "to_out.0"], ["ff.net.0.proj", "ff.net.2"]),
    ("sdxl", ["to_q", "to_k", "to_v", "to_out.0"], ["ff.net.0.proj", "ff.net.2"]),
    ("gpt2", ["c_attn"], ["c_fc"]), ("falcon", ["query_key_value"], ["dense_h_to_4h", "dense_4h_to_h"]),
    ("bloom", ["query_key_value"], ["dense_h_to_4h", "dense_4h_to_h"]),
    ("pythia", ["query_key_value"], ["dense_h_to_4h", "dense_4h_to_h"]),
)


def layers_of(name):
    for beginning, attention, perceptron in FAMILIES:
        if name.startswith(beginning):
            return attention, perceptron
    return None


def setups_of(name, is_transformer=True):
    """Up to twelve (kind, rank, targets); "all-linear" is of transformers' models."""
    found = layers_of(name)
    if found is None:
        return []
    attention, perceptron = found
    some = [attention[0], attention[2]] if len(attention) > 2 else attention[:1]
    values = attention[1:3] if len(attention) > 2 else attention[:1]
    high = 32 if name.startswith("segformer") else 64  # of the narrowest product
    setups = [("lora", 8, some), ("lora", high, attention[:1]), ("lora", 16, attention), ("lora", 4, perceptron),
              ("lora", 8, attention + perceptron), ("dora", 8, some), ("dora", 16, attention), ("dora", 4, perceptron),
              ("ia3", 0, values + perceptron[-1:]), ("ia3", 0, attention + perceptron[-1:])]
    if name.startswith("modernbert"):  # what ends its feed-forward part is called as attention's output is
        setups = [setup for setup in setups if setup[0] != "ia3"]
    if is_transformer:
        setups += [("lora", 16, "all-linear"), ("dora", 8, "all-linear")]
    return setups
