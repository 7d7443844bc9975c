"""The networks that are measured: how each is made, with which optimizer, batches and precisions.

A network is made with random weights from its public configuration; nothing is downloaded. `measure capture` records
the same networks, so that each measured step has a model file that is exactly it.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple

Made = Tuple[Any, Callable[[int], Any], Optional[Callable[..., Any]]]
"""A module, a function from the batch to its tensors on the CPU, and the loss (None: the output's own)."""


@dataclass(frozen=True)
class Configuration:
    """One way to run a network: a line of steps.jsonl."""

    precision: str  #: fp32, tf32, amp_fp16, bf16 (autocast) or pure_bf16 (weights in bfloat16)
    batch: int
    compile: bool = False  #: by torch.compile
    channels_last: bool = False


@dataclass(frozen=True)
class Network:
    """A row of the table. The first configuration tells most and is also profiled."""

    name: str
    kind: str  #: cnn, vision_transformer, language_model, speech, segmentation, recurrent, fine_tuning, small
    make: Callable[[], Made]
    configurations: Tuple[Configuration, ...]
    optimizer: str = "momentum"  #: momentum or adamw
    needs: Tuple[str, ...] = ()  #: Python packages besides torch
    settings: Dict[str, Any] = field(default_factory=dict)  #: keys of a scenario that describe the network's step


def _images(size: int, classes: int = 1000, channels: int = 3, depth: int = 0) -> Callable[[int], Any]:
    import torch

    shape = (channels,) + ((depth,) if depth else ()) + (size, size)
    return lambda n: (torch.randn(n, *shape), torch.randint(0, classes, (n,)))


def _tokens(length: int, words: int, **more: Callable[[int], Any]) -> Callable[[int], Any]:
    import torch

    def batch(n: int) -> Any:
        ids = torch.randint(0, words, (n, length))
        return {"input_ids": ids, "labels": ids.clone(), **{key: made(n) for key, made in more.items()}}

    return batch


def _torchvision(name: str, size: int = 224) -> Callable[[], Made]:
    def make() -> Made:
        import torch
        import torchvision

        more = {"init_weights": False, "aux_logits": False} if name == "inception_v3" else {}
        model = getattr(torchvision.models, name)(weights=None, **more)
        return model, _images(size), torch.nn.functional.cross_entropy

    return make


def _transformers(kind: str, classes: str, length: int, **changes: Any) -> Callable[[], Made]:
    """A model of the transformers package: `kind`Config with `changes`, the class `classes`."""

    def make() -> Made:
        import transformers

        config = getattr(transformers, kind + "Config")(**changes)
        config.use_cache = False
        model = getattr(transformers, classes)(config)
        return model, _tokens(length, config.vocab_size), None

    return make


_LLAMA_3_2_1B: Dict[str, Any] = dict(
    vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
    num_key_value_heads=8, head_dim=64, tie_word_embeddings=True, max_position_embeddings=8192,
)
_LLAMA_3_2_3B: Dict[str, Any] = dict(
    vocab_size=128256, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24,
    num_key_value_heads=8, head_dim=128, tie_word_embeddings=True, max_position_embeddings=8192,
)
_LLAMA_2_7B: Dict[str, Any] = dict(
    vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32,
    num_key_value_heads=32, max_position_embeddings=4096,
)


def _lora(rank: int, recompute: bool) -> Callable[[], Made]:
    """Llama 2 7B in bfloat16, frozen, with adapters of `rank` on queries and values."""

    def make() -> Made:
        import peft
        import torch
        import transformers

        config = transformers.LlamaConfig(**_LLAMA_2_7B, dtype=torch.bfloat16)
        config.use_cache = False
        model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
        if recompute:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            model.enable_input_require_grads()
        adapted = peft.get_peft_model(
            model, peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=["q_proj", "v_proj"])
        )
        return adapted, _tokens(1024, config.vocab_size), None

    return make


def _whisper() -> Made:
    import torch
    import transformers

    config = transformers.WhisperConfig(
        d_model=768, encoder_layers=12, decoder_layers=12, encoder_attention_heads=12, decoder_attention_heads=12,
        encoder_ffn_dim=3072, decoder_ffn_dim=3072, vocab_size=51865,
    )
    config.use_cache = False
    model = transformers.WhisperForConditionalGeneration(config)

    def batch(n: int) -> Any:
        return {"input_features": torch.randn(n, 80, 3000), "labels": torch.randint(0, 51865, (n, 128))}

    return model, batch, None


def _t5() -> Made:
    import transformers

    config = transformers.T5Config(
        d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_decoder_layers=12, num_heads=12, vocab_size=32128,
        decoder_start_token_id=0,
    )
    config.use_cache = False
    return transformers.T5ForConditionalGeneration(config), _tokens(512, config.vocab_size), None


def _unet(dimensions: int, size: int, width: int, channels: int) -> Callable[[], Made]:
    """An encoder and a decoder of five levels with skip connections (Ronneberger 2015, Çiçek 2016)."""

    def make() -> Made:
        import torch
        from torch import nn

        conv = nn.Conv3d if dimensions == 3 else nn.Conv2d
        up = nn.ConvTranspose3d if dimensions == 3 else nn.ConvTranspose2d
        pool = nn.MaxPool3d if dimensions == 3 else nn.MaxPool2d
        norm = nn.InstanceNorm3d if dimensions == 3 else nn.BatchNorm2d

        def twice(inside: int, outside: int) -> nn.Module:
            one = [conv(inside, outside, 3, padding=1, bias=False), norm(outside, affine=True), nn.ReLU(True)]
            two = [conv(outside, outside, 3, padding=1, bias=False), norm(outside, affine=True), nn.ReLU(True)]
            return nn.Sequential(*one, *two)

        class UNet(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                widths = [width * 2**level for level in range(5)]
                self.down = nn.ModuleList(twice(a, b) for a, b in zip([channels] + widths, widths))
                self.pool = pool(2)
                self.up = nn.ModuleList(up(2 * w, w, 2, stride=2) for w in reversed(widths[:-1]))
                self.merge = nn.ModuleList(twice(2 * w, w) for w in reversed(widths[:-1]))
                self.head = conv(width, 3, 1)

            def forward(self, x: Any) -> Any:
                kept = []
                for level, block in enumerate(self.down):
                    x = block(x if level == 0 else self.pool(x))
                    kept.append(x)
                for grow, merge, skip in zip(self.up, self.merge, reversed(kept[:-1])):
                    x = merge(torch.cat([grow(x), skip], 1))
                return self.head(x)

        shape = (size,) * dimensions

        def batch(n: int) -> Any:
            return torch.randn(n, channels, *shape), torch.randint(0, 3, (n, *shape))

        return UNet(), batch, torch.nn.functional.cross_entropy

    return make


def _mnist() -> Made:
    """The network of PyTorch's MNIST example."""
    from torch import nn
    from torch.nn import functional

    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
    )
    return model, _images(28, 10, 1), functional.cross_entropy


def _perceptron(width: int, layers: int) -> Callable[[], Made]:
    def make() -> Made:
        import torch
        from torch import nn

        hidden: List[nn.Module] = []
        for _ in range(layers):
            hidden += [nn.Linear(width, width), nn.ReLU()]
        model = nn.Sequential(*hidden, nn.Linear(width, 10))
        return (
            model,
            lambda n: (torch.randn(n, width), torch.randint(0, 10, (n,))),
            nn.functional.cross_entropy,
        )

    return make


def _lstm(words: int, width: int, length: int) -> Callable[[], Made]:
    """The language model of PyTorch's word_language_model example, two layers."""

    def make() -> Made:
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.embed = nn.Embedding(words, width)
                self.recurrent = nn.LSTM(width, width, 2, batch_first=True, dropout=0.2)
                self.head = nn.Linear(width, words)

            def forward(self, ids: Any) -> Any:
                return self.head(self.recurrent(self.embed(ids))[0]).transpose(1, 2)

        def batch(n: int) -> Any:
            ids = torch.randint(0, words, (n, length))
            return ids, ids.clone()

        return Model(), batch, nn.functional.cross_entropy

    return make


def _encoder(width: int, layers: int, heads: int, length: int) -> Callable[[], Made]:
    """A classifier of torch.nn.TransformerEncoder layers."""

    def make() -> Made:
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
                self.layers = nn.TransformerEncoder(layer, layers)
                self.head = nn.Linear(width, 10)

            def forward(self, x: Any) -> Any:
                return self.head(self.layers(x).mean(1))

        return (
            Model(),
            lambda n: (torch.randn(n, length, width), torch.randint(0, 10, (n,))),
            nn.functional.cross_entropy,
        )

    return make


def _ways(batches: Tuple[int, ...], *precisions: str) -> Tuple[Configuration, ...]:
    """The first batch in each precision, then the other batches in the first precision."""
    first = [Configuration(precision, batches[0]) for precision in precisions]
    return tuple(first + [Configuration(precisions[0], batch) for batch in batches[1:]])


def _last(precision: str, batch: int) -> Tuple[Configuration, ...]:
    return (Configuration(precision, batch, channels_last=True),)


def _cnn(name: str, *batches: int, size: int = 224, more: Tuple[Configuration, ...] = ()) -> Network:
    ways = _ways(batches, "amp_fp16", "fp32", "bf16", "tf32") + more
    kind = "vision_transformer" if name in ("vit_b_16", "swin_t") else "cnn"
    return Network(name, kind, _torchvision(name, size), ways, needs=("torchvision",))


def _transformer(name: str, kind: str, make: Callable[[], Made], *ways: Configuration) -> Network:
    return Network(name, kind, make, ways, "adamw", ("transformers",))


def _compiled(name: str, kind: str, make: Callable[[], Made], way: Configuration, optimizer: str, need: str) -> Network:
    compiled = Configuration(way.precision, way.batch, True, way.channels_last)
    return Network(name, kind, make, (compiled,), optimizer, (need,))


def _bert(width: int, layers: int, length: int) -> Callable[[], Made]:
    return _transformers(
        "Bert", "BertForMaskedLM", length, hidden_size=width, num_hidden_layers=layers,
        num_attention_heads=width // 64, intermediate_size=4 * width,
    )


def _gpt2(width: int, layers: int) -> Callable[[], Made]:
    return _transformers("GPT2", "GPT2LMHeadModel", 1024, n_embd=width, n_layer=layers, n_head=width // 64)


def _llama(changes: Dict[str, Any]) -> Callable[[], Made]:
    return _transformers("Llama", "LlamaForCausalLM", 2048, **changes)


def networks() -> List[Network]:
    """All of a GPU, those that tell most first; compiled ones last, as compiling takes long."""
    pure, auto = "pure_bf16", "bf16"
    return [
        _cnn("resnet50", 64, 256, 16, more=_last("amp_fp16", 64) + _last("amp_fp16", 256) + _last("fp32", 64)),
        _transformer("gpt2", "language_model", _gpt2(768, 12),
                     *_ways((8, 2), auto, "amp_fp16", "fp32", "tf32", pure)),
        _transformer("llama3_2_1b", "language_model", _llama(_LLAMA_3_2_1B),
                     *_ways((2, 4, 1), pure, auto), Configuration("tf32", 1)),
        _cnn("vit_b_16", 64, 256, 16),
        _transformer("bert_base", "language_model", _bert(768, 12, 128),
                     *_ways((32, 8, 128), "amp_fp16", "fp32", auto, "tf32", pure)),
        Network("mnist_net", "small", _mnist, _ways((64, 1024, 16384), "fp32", "amp_fp16"), "momentum"),
        _cnn("vgg16", 64, 16),
        Network("lora_llama2_7b", "fine_tuning", _lora(16, False), _ways((1, 2, 4), pure), "adamw",
                ("transformers", "peft")),
        Network("unet3d", "segmentation", _unet(3, 96, 32, 4), _ways((2, 1), "amp_fp16", "fp32", auto), "adamw"),
        _cnn("efficientnet_b0", 64, 256, more=_last("amp_fp16", 256)),
        _transformer("t5_base", "language_model", _t5, *_ways((8, 2), auto, "fp32", "tf32", pure)),
        _transformer("whisper_small", "speech", _whisper, *_ways((8, 2), "amp_fp16", "fp32", auto)),
        _cnn("mobilenet_v2", 64, 256, more=_last("amp_fp16", 256)),
        _cnn("densenet121", 64, 16),
        _cnn("swin_t", 64, 16),
        _transformer("llama3_2_3b", "language_model", _llama(_LLAMA_3_2_3B), *_ways((1, 2), pure)),
        _cnn("convnext_tiny", 64, 16, more=_last("amp_fp16", 64)),
        _transformer("bert_large", "language_model", _bert(1024, 24, 384), *_ways((16, 4), "amp_fp16", auto, "fp32")),
        Network("unet2d", "segmentation", _unet(2, 256, 64, 3), _ways((16, 4), "amp_fp16", "fp32", auto), "adamw"),
        _cnn("resnet18", 256, 64, 16, more=_last("amp_fp16", 256)),
        _cnn("resnet152", 64, 16),
        _cnn("inception_v3", 64, size=299),
        _transformer("gpt2_medium", "language_model", _gpt2(1024, 24), *_ways((4, 1), auto, pure, "fp32")),
        Network("lstm", "recurrent", _lstm(33278, 650, 35), _ways((64, 256), "fp32", "amp_fp16", "tf32")),
        Network("lora_llama2_7b_recompute", "fine_tuning", _lora(16, True), _ways((4, 1), pure), "adamw",
                ("transformers", "peft"), {"model.recompute": True}),
        _cnn("regnet_y_3_2gf", 64),
        Network("perceptron", "small", _perceptron(4096, 8), _ways((1024, 64, 8192), "fp32", "tf32", "bf16")),
        Network("encoder", "small", _encoder(512, 6, 8, 128), _ways((64, 256), "fp32", "amp_fp16"), "adamw"),
        _compiled("resnet50", "cnn", _torchvision("resnet50"), Configuration("amp_fp16", 64), "momentum", "torchvision"),
        _compiled("gpt2", "language_model", _gpt2(768, 12), Configuration("bf16", 8), "adamw", "transformers"),
        _compiled("llama3_2_1b", "language_model", _llama(_LLAMA_3_2_1B), Configuration(pure, 2), "adamw", "transformers"),
        _compiled("vit_b_16", "vision_transformer", _torchvision("vit_b_16"), Configuration("bf16", 64), "momentum", "torchvision"),
    ]


def small_networks() -> List[Network]:
    """Those that a CPU trains in milliseconds: the same code, in tests and where there is no GPU."""
    return [
        Network("mnist_net", "small", _mnist, _ways((8, 16), "fp32", "bf16"), "momentum"),
        Network("perceptron_small", "small", _perceptron(128, 2), _ways((16, 64), "fp32", "bf16", "pure_bf16"), "adamw"),
        Network("encoder_small", "small", _encoder(32, 1, 2, 8), _ways((4,), "fp32"), "adamw"),
        Network("unet2d_small", "segmentation", _unet(2, 32, 4, 3), _ways((2,), "fp32"), "adamw"),
    ]
