"""Networks of the catalog as their libraries build them: parameters, products and bytes kept for backward, without weights."""
import importlib

from .common import torch

FlopCounterMode = None
if torch is not None:
    from torch.autograd.graph import saved_tensors_hooks
    try:
        from torch.utils.flop_counter import FlopCounterMode
    except ImportError:  # before PyTorch 2.1
        pass


def library(name):
    """The module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class FusedAttention:
    """Stands for scaled_dot_product_attention as a GPU's fused kernels run it: queries, keys, values, the result and
    one number a row are kept. It counts its own products, which the meta device hides behind others."""

    def __init__(self):
        self.flops = 0
        owner = self

        class Fused(torch.autograd.Function):
            @staticmethod
            def forward(ctx, q, k, v, causal):
                batch, heads, length, _ = q.shape
                out = q.new_empty(batch, length, heads, v.shape[-1]).transpose(1, 2)  # as the kernels lay it out
                rows = q.new_empty(q.shape[:-1])
                ctx.save_for_backward(q, k, v, out, rows)
                seen = (length + 1) / (2 * length) if causal and length == k.shape[-2] else 1
                owner.flops += 2 * seen * batch * heads * length * k.shape[-2] * (q.shape[-1] + v.shape[-1])
                return out

            @staticmethod
            def backward(ctx, grad):
                q, k, v, _, _ = ctx.saved_tensors
                return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), None

        self.function = Fused

    def __call__(self, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                 enable_gqa=False):
        if enable_gqa and key.shape[-3] != query.shape[-3]:
            groups = query.shape[-3] // key.shape[-3]
            key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
        return self.function.apply(query, key, value, is_causal)

    def __enter__(self):
        self.plain = torch.nn.functional.scaled_dot_product_attention
        torch.nn.functional.scaled_dot_product_attention = self
        return self

    def __exit__(self, *_):
        torch.nn.functional.scaled_dot_product_attention = self.plain


def sums_of(value):
    """One number that depends on every tensor of a result."""
    if torch.is_tensor(value):
        return value.float().sum() if value.is_floating_point() and value.requires_grad else 0
    if isinstance(value, dict):
        return sum(sums_of(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return sum(sums_of(one) for one in value)
    return 0


def without_looking_at_values():
    """Masks of transformers ask for numbers, which meta tensors do not have: no sequence is packed here."""
    masks = library("transformers.masking_utils")
    if masks is not None:
        masks.find_packed_sequence_indices = lambda position_ids: None
    plain = getattr(torch.isfinite, "plain", torch.isfinite)

    def isfinite(tensor):
        """RT-DETR clamps what is not finite, which nobody knows of tensors without numbers."""
        return torch.ones(1, device="cpu") if tensor.device.type == "meta" else plain(tensor)

    isfinite.plain = plain
    torch.isfinite = isfinite


def step(model, inputs):
    """Products and bytes kept of one forward pass."""
    weights = {tensor.untyped_storage()._cdata for tensor in [*model.parameters(), *model.buffers()]}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in weights:
            kept[storage._cdata] = storage
        return tensor

    with FusedAttention() as attention, FlopCounterMode(display=False) as counter:
        with saved_tensors_hooks(pack, lambda tensor: tensor):
            result = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
            loss = sums_of(result.loss if getattr(result, "loss", None) is not None else result)
        del loss
    flops = counter.get_total_flops() + attention.flops
    return flops, sum(storage.nbytes() for storage in kept.values())


def with_adapters(model, kind, rank, targets):
    """PEFT's adapters on a network, everything else frozen."""
    peft = library("peft")
    if kind == "ia3":
        config = peft.IA3Config(target_modules=targets, feedforward_modules=targets[-1:])
    else:
        config = peft.LoraConfig(r=rank, target_modules=targets, use_dora=kind == "dora",
                                 init_lora_weights=kind != "dora")
    return peft.get_peft_model(model, config)


def facts(build, adapters=None):
    """Parameters, and what a sample adds: FLOPs of products forward and bytes kept."""
    without_looking_at_values()
    with torch.device("meta"):
        model, inputs = build()
        if adapters is not None:
            model = with_adapters(model, *adapters)
        model.train()
        given = inputs(1)
        two, three = step(model, inputs(2)), step(model, inputs(3))  # one sample alone is contiguous where two are not
    counts = [(p.numel(), p.requires_grad) for p in model.parameters()]
    return {"parameters": sum(n for n, _ in counts), "trained": sum(n for n, trains in counts if trains),
            "with_loss": isinstance(given, dict) and "labels" in given, "flops": three[0] - two[0], "kept": three[1] - two[1]}


def tokens(batch, length, entries=100):
    return torch.zeros(batch, length, dtype=torch.long)


def image(batch, side, channels=3):
    return torch.zeros(batch, channels, side, side)


def vision_of_timm(name, **options):
    timm = library("timm")
    model = timm.create_model(name, pretrained=False, **options)
    side = model.default_cfg["input_size"][-1]
    return model, lambda batch: (image(batch, side),)


def of_torchvision(name, side, **options):
    models = library("torchvision").models
    return models.get_model(name, weights=None, **options), lambda batch: (image(batch, side),)


def whisper(width, encoder, decoder, bins=80, words=51865):
    tr = library("transformers")
    config = tr.WhisperConfig(
        d_model=width, encoder_layers=encoder, decoder_layers=decoder, encoder_attention_heads=width // 64,
        decoder_attention_heads=width // 64, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, num_mel_bins=bins,
        vocab_size=words)
    return tr.WhisperForConditionalGeneration(config), lambda batch: {
        "input_features": torch.zeros(batch, bins, 3000), "labels": tokens(batch, 448)}


def dinov2(width, layers, gated=False):
    tr = library("transformers")
    config = tr.Dinov2Config(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64,
                             use_swiglu_ffn=gated, image_size=518, patch_size=14)
    return tr.Dinov2Model(config), lambda batch: {"pixel_values": image(batch, 224)}


def t5(width, inner, heads, layers, first=True, head=64):
    tr = library("transformers")
    config = tr.T5Config(
        d_model=width, d_ff=inner, num_heads=heads, d_kv=head, num_layers=layers, vocab_size=32128,
        feed_forward_proj="relu" if first else "gated-gelu", decoder_start_token_id=0)
    config._attn_implementation = "eager"  # as before transformers 5, and as the catalog has it
    model = tr.T5ForConditionalGeneration(config)
    if not first:
        model.lm_head = torch.nn.Linear(width, 32128, bias=False)
    return model, lambda batch: {
        "input_ids": tokens(batch, 512), "labels": tokens(batch, 512)}


def clip(side, patch, seen, layers, read, joint):
    tr = library("transformers")
    config = tr.CLIPConfig(
        text_config={"hidden_size": read, "intermediate_size": 4 * read, "num_attention_heads": read // 64,
                     "num_hidden_layers": 12},
        vision_config={"hidden_size": seen, "intermediate_size": 4 * seen, "num_attention_heads": seen // 64,
                       "num_hidden_layers": layers, "image_size": side, "patch_size": patch},
        projection_dim=joint)
    return tr.CLIPModel(config), lambda batch: {"input_ids": tokens(batch, 77), "pixel_values": image(batch, side)}


def siglip(side, patch, width, inner, heads, layers):
    tr = library("transformers")
    text = {"hidden_size": width, "intermediate_size": inner, "num_attention_heads": heads,
            "num_hidden_layers": layers, "vocab_size": 32000}
    seen = {**text, "image_size": side, "patch_size": patch}
    del seen["vocab_size"]
    config = tr.SiglipConfig(text_config=text, vision_config=seen)
    return tr.SiglipModel(config), lambda batch: {"input_ids": tokens(batch, 64), "pixel_values": image(batch, side)}


def segformer(widths, depths, joint):
    tr = library("transformers")
    config = tr.SegformerConfig(hidden_sizes=widths, depths=depths, decoder_hidden_size=joint, num_labels=150)
    return tr.SegformerForSemanticSegmentation(config), lambda batch: {
        "pixel_values": image(batch, 512), "labels": torch.zeros(batch, 512, 512, dtype=torch.long)}


def yolo(name):
    with torch.device("cpu"):
        model = library("ultralytics.nn.tasks").DetectionModel(f"{name}.yaml", verbose=False)
    return model.to("meta"), lambda batch: (image(batch, 640),)


def unet(side, prompt, **options):
    model = library("diffusers").UNet2DConditionModel(**options)
    added = {}

    def inputs(batch):
        if options.get("addition_embed_type"):
            added["added_cond_kwargs"] = {"text_embeds": torch.zeros(batch, 1280), "time_ids": torch.zeros(batch, 6)}
        return {"sample": torch.zeros(batch, 4, side, side), "timestep": torch.zeros(batch),
                "encoder_hidden_states": torch.zeros(batch, 77, prompt), **added}

    return model, inputs


def sd15():
    return unet(64, 768, sample_size=64, cross_attention_dim=768)


def sd21():
    return unet(96, 1024, sample_size=96, cross_attention_dim=1024, attention_head_dim=[5, 10, 20, 20],
                use_linear_projection=True)


def sdxl(side=128):
    return unet(side, 2048, sample_size=side, cross_attention_dim=2048, attention_head_dim=[5, 10, 20],
                block_out_channels=[320, 640, 1280], use_linear_projection=True,
                down_block_types=["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
                up_block_types=["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
                transformer_layers_per_block=[1, 2, 10], addition_embed_type="text_time",
                addition_time_embed_dim=256, projection_class_embeddings_input_dim=2816)


NETWORKS = {
    "whisper_tiny": ("transformers", lambda: whisper(384, 4, 4)),
    "whisper_base": ("transformers", lambda: whisper(512, 6, 6)),
    "whisper_small": ("transformers", lambda: whisper(768, 12, 12)),
    "whisper_medium": ("transformers", lambda: whisper(1024, 24, 24)),
    "whisper_large_v2": ("transformers", lambda: whisper(1280, 32, 32)),
    "whisper_large_v3": ("transformers", lambda: whisper(1280, 32, 32, 128, 51866)),
    "whisper_large_v3_turbo": ("transformers", lambda: whisper(1280, 32, 4, 128, 51866)),
    **{name: ("timm", lambda name=name: vision_of_timm(name, num_classes=1000)) for name in (
        "vit_tiny_patch16_224", "vit_small_patch16_224", "vit_small_patch32_224", "vit_base_patch16_224",
        "vit_base_patch32_224", "vit_large_patch16_224", "vit_huge_patch14_224")},
    "dinov2_small": ("transformers", lambda: dinov2(384, 12)),
    "dinov2_base": ("transformers", lambda: dinov2(768, 12)),
    "dinov2_large": ("transformers", lambda: dinov2(1024, 24)),
    "dinov2_giant": ("transformers", lambda: dinov2(1536, 40, True)),
    "t5_small": ("transformers", lambda: t5(512, 2048, 8, 6)),
    "t5_base": ("transformers", lambda: t5(768, 3072, 12, 12)),
    "t5_large": ("transformers", lambda: t5(1024, 4096, 16, 24)),
    "t5_3b": ("transformers", lambda: t5(1024, 16384, 32, 24, True, 128)),
    "flan_t5_small": ("transformers", lambda: t5(512, 1024, 6, 8, False)),
    "flan_t5_base": ("transformers", lambda: t5(768, 2048, 12, 12, False)),
    "flan_t5_large": ("transformers", lambda: t5(1024, 2816, 16, 24, False)),
    "flan_t5_xl": ("transformers", lambda: t5(2048, 5120, 32, 24, False)),
    "flan_t5_xxl": ("transformers", lambda: t5(4096, 10240, 64, 24, False)),
    "clip_vit_b_32": ("transformers", lambda: clip(224, 32, 768, 12, 512, 512)),
    "clip_vit_b_16": ("transformers", lambda: clip(224, 16, 768, 12, 512, 512)),
    "clip_vit_l_14": ("transformers", lambda: clip(224, 14, 1024, 24, 768, 768)),
    "clip_vit_l_14_336": ("transformers", lambda: clip(336, 14, 1024, 24, 768, 768)),
    "siglip_base_patch16_224": ("transformers", lambda: siglip(224, 16, 768, 3072, 12, 12)),
    "siglip_so400m_patch14_384": ("transformers", lambda: siglip(384, 14, 1152, 4304, 16, 27)),
    "segformer_b0": ("transformers", lambda: segformer([32, 64, 160, 256], [2, 2, 2, 2], 256)),
    "segformer_b1": ("transformers", lambda: segformer([64, 128, 320, 512], [2, 2, 2, 2], 256)),
    "segformer_b2": ("transformers", lambda: segformer([64, 128, 320, 512], [3, 4, 6, 3], 768)),
    "segformer_b3": ("transformers", lambda: segformer([64, 128, 320, 512], [3, 4, 18, 3], 768)),
    "segformer_b4": ("transformers", lambda: segformer([64, 128, 320, 512], [3, 8, 27, 3], 768)),
    "segformer_b5": ("transformers", lambda: segformer([64, 128, 320, 512], [3, 6, 40, 3], 768)),
    "convnext_tiny": ("torchvision", lambda: of_torchvision("convnext_tiny", 224)),
    "convnext_small": ("torchvision", lambda: of_torchvision("convnext_small", 224)),
    "convnext_base": ("torchvision", lambda: of_torchvision("convnext_base", 224)),
    "convnext_large": ("torchvision", lambda: of_torchvision("convnext_large", 224)),
    "efficientnet_v2_s": ("torchvision", lambda: of_torchvision("efficientnet_v2_s", 300)),
    "efficientnet_v2_m": ("torchvision", lambda: of_torchvision("efficientnet_v2_m", 384)),
    "efficientnet_v2_l": ("torchvision", lambda: of_torchvision("efficientnet_v2_l", 384)),
    **{name: ("ultralytics", lambda name=name: yolo(name)) for name in (
        "yolov8n", "yolov8s", "yolov8m", "yolov8l", "yolov8x")},
    "sd15_unet": ("diffusers", sd15),
    "sd21_unet": ("diffusers", sd21),
    "sdxl_unet": ("diffusers", sdxl),
    "sdxl_unet_512": ("diffusers", lambda: sdxl(64)),
}


def decoder(name, length=2048, **sizes):
    tr = library("transformers")
    config = getattr(tr, f"{name}Config")(use_cache=False, **sizes)
    model = getattr(tr, f"{name}ForCausalLM")(config)
    return model, lambda batch: {"input_ids": tokens(batch, length), "labels": tokens(batch, length)}


def llama(width, inner, heads, groups, layers, words, tied=True, name="Llama", **more):
    return decoder(name, hidden_size=width, intermediate_size=inner, num_attention_heads=heads,
                   num_key_value_heads=groups, num_hidden_layers=layers, vocab_size=words, tie_word_embeddings=tied,
                   pad_token_id=0, **more)


def modernbert(width, inner, layers):
    tr = library("transformers")
    config = tr.ModernBertConfig(hidden_size=width, intermediate_size=inner, num_attention_heads=width // 64,
                                 num_hidden_layers=layers, attn_implementation="sdpa")
    return tr.ModernBertForMaskedLM(config), lambda batch: {"input_ids": tokens(batch, 512), "labels": tokens(batch, 512)}


def wav2vec2(width, layers):
    tr = library("transformers")
    config = tr.Wav2Vec2Config(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64,
                               intermediate_size=4 * width, layerdrop=0.0)
    model = tr.Wav2Vec2ForCTC(config)
    model.config.apply_spec_augment = False  # its mask is drawn from numbers
    return model, lambda batch: {"input_values": torch.zeros(batch, 160000)}


NETWORKS.update({
    "smollm2_135m": ("transformers", lambda: llama(576, 1536, 9, 3, 30, 49152)),
    "smollm2_360m": ("transformers", lambda: llama(960, 2560, 15, 5, 32, 49152)),
    "smollm3_3b": ("transformers", lambda: llama(2048, 11008, 16, 4, 36, 128256)),
    "phi3_medium": ("transformers", lambda: llama(5120, 17920, 40, 10, 40, 32064, False, "Phi3")),
    "phi_4": ("transformers", lambda: llama(5120, 17920, 40, 10, 40, 100352, False, "Phi3")),
    "phi_4_mini": ("transformers", lambda: llama(3072, 8192, 24, 8, 32, 200064, True, "Phi3")),
    "modernbert_base": ("transformers", lambda: modernbert(768, 1152, 22)),
    "modernbert_large": ("transformers", lambda: modernbert(1024, 2624, 28)),
    "wav2vec2_base": ("transformers", lambda: wav2vec2(768, 12)),
    "wav2vec2_large": ("transformers", lambda: wav2vec2(1024, 24)),
    **{name: ("ultralytics", lambda name=name: yolo(name)) for name in (
        "yolo11n", "yolo11s", "yolo11m", "yolo11l", "yolo11x")},
})


def sd3():
    model = library("diffusers").SD3Transformer2DModel(
        sample_size=128, patch_size=2, in_channels=16, num_layers=24, attention_head_dim=64, num_attention_heads=24,
        joint_attention_dim=4096, caption_projection_dim=1536, pooled_projection_dim=2048, out_channels=16,
        pos_embed_max_size=192)
    return model, lambda batch: {
        "hidden_states": torch.zeros(batch, 16, 128, 128), "encoder_hidden_states": torch.zeros(batch, 333, 4096),
        "pooled_projections": torch.zeros(batch, 2048), "timestep": torch.zeros(batch)}


def flux(guided, length):
    model = library("diffusers").FluxTransformer2DModel(guidance_embeds=guided)
    return model, lambda batch: {
        "hidden_states": torch.zeros(batch, 4096, 64), "encoder_hidden_states": torch.zeros(batch, length, 4096),
        "pooled_projections": torch.zeros(batch, 768), "timestep": torch.zeros(batch), "img_ids": torch.zeros(4096, 3),
        "txt_ids": torch.zeros(length, 3), **({"guidance": torch.zeros(batch)} if guided else {})}


NETWORKS.update({
    "sd3_medium": ("diffusers", sd3),
    "flux_dev": ("diffusers", lambda: flux(True, 512)),
    "flux_schnell": ("diffusers", lambda: flux(False, 256)),
})


def llava(width, inner, layers):
    tr = library("transformers")
    config = tr.LlavaConfig(
        vision_config=tr.CLIPVisionConfig(hidden_size=1024, intermediate_size=4096, num_attention_heads=16,
                                          num_hidden_layers=24, image_size=336, patch_size=14, projection_dim=768),
        text_config=tr.LlamaConfig(hidden_size=width, intermediate_size=inner, num_hidden_layers=layers,
                                   num_attention_heads=width // 128, vocab_size=32064, use_cache=False),
        tie_word_embeddings=False)
    model = tr.LlavaForConditionalGeneration(config)

    def inputs(batch):
        return {"image": image(batch, 336), "words": tokens(batch, 1472), "labels": tokens(batch, 2048)}

    class Parts(torch.nn.Module):
        """The model's parts in their order, with the image's rows in front of the words."""

        def __init__(self):
            super().__init__()
            self.whole = model

        def forward(self, image, words, labels):
            inner = self.whole.model
            seen = inner.vision_tower(image, output_hidden_states=True).hidden_states[-2][:, 1:]
            seen = inner.multi_modal_projector(seen)
            words = inner.language_model.embed_tokens(words)
            joined = torch.cat([seen, words], 1)
            hidden = inner.language_model(inputs_embeds=joined).last_hidden_state
            logits = self.whole.lm_head(hidden)
            loss = self.whole.loss_function(logits=logits, labels=labels, vocab_size=32064)
            return {"loss": loss}

    return Parts(), inputs


def sam(width, layers, heads, seeing_all):
    tr = library("transformers")
    config = tr.SamConfig(vision_config={
        "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads, "mlp_dim": 4 * width,
        "global_attn_indexes": seeing_all})
    return tr.SamModel(config), lambda batch: {"pixel_values": image(batch, 1024), "input_boxes": torch.zeros(batch, 1, 4)}


def rt_detr(widths, depths, kind="bottleneck", wide=256, inner=1024, share=1.0, layers=6):
    tr = library("transformers")
    backbone = tr.RTDetrResNetConfig(
        hidden_sizes=widths, depths=depths, layer_type=kind, downsample_in_bottleneck=False,
        downsample_in_first_stage=False, out_features=["stage2", "stage3", "stage4"])
    config = tr.RTDetrConfig(
        backbone_config=backbone, encoder_in_channels=widths[1:], encoder_hidden_dim=wide, encoder_ffn_dim=inner,
        hidden_expansion=share, decoder_layers=layers, decoder_in_channels=[wide] * 3, num_labels=80)
    with torch.device("cpu"):
        model = tr.RTDetrForObjectDetection(config)
    return model.to("meta"), lambda batch: {"pixel_values": image(batch, 640)}


NARROW, WIDE = [64, 128, 256, 512], [256, 512, 1024, 2048]
NETWORKS.update({
    "rt_detr_r18": ("transformers", lambda: rt_detr(NARROW, [2, 2, 2, 2], "basic", share=0.5, layers=3)),
    "rt_detr_r34": ("transformers", lambda: rt_detr(NARROW, [3, 4, 6, 3], "basic", share=0.5, layers=4)),
    "rt_detr_r50": ("transformers", lambda: rt_detr(WIDE, [3, 4, 6, 3])),
    "rt_detr_r101": ("transformers", lambda: rt_detr(WIDE, [3, 4, 23, 3], wide=384, inner=2048)),
    "sam_vit_b": ("transformers", lambda: sam(768, 12, 12, [2, 5, 8, 11])),
    "sam_vit_l": ("transformers", lambda: sam(1024, 24, 16, [5, 11, 17, 23])),
    "sam_vit_h": ("transformers", lambda: sam(1280, 32, 16, [7, 15, 23, 31])),
})

NETWORKS.update({
    "llava_1_5_7b": ("transformers", lambda: llava(4096, 11008, 32)),
    "llava_1_5_13b": ("transformers", lambda: llava(5120, 13824, 40)),
})


def nnunet(patch, features, strides, convolutions, kernels=3, residual=False):
    """The network of nnU-Net's plans, with two classes and an output at each size."""
    unet = library("dynamic_network_architectures.architectures.unet")
    sides = len(patch)
    conv = torch.nn.Conv3d if sides == 3 else torch.nn.Conv2d
    norm = torch.nn.InstanceNorm3d if sides == 3 else torch.nn.InstanceNorm2d
    build = unet.ResidualEncoderUNet if residual else unet.PlainConvUNet
    model = build(1, len(features), features, conv, kernels, strides, convolutions, 2,
                  [1 if residual else 2] * (len(features) - 1), True, norm, {"affine": True}, None, None,
                  torch.nn.LeakyReLU, {"inplace": True}, deep_supervision=True)
    return model, lambda batch: (torch.zeros(batch, 1, *patch),)
