"""Networks that the tests record, written as people write them: GPT-2, BERT by modules, a U-Net with custom
layers, an LSTM."""
import math
from typing import Optional, Tuple

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int, positions: int, p: float) -> None:
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.attn_dropout, self.resid_dropout = nn.Dropout(p), nn.Dropout(p)
        self.heads = heads
        mask = torch.tril(torch.ones(positions, positions, dtype=torch.uint8))
        self.register_buffer("bias", mask.view(1, 1, positions, positions))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, s, w = x.shape
        q, k, v = (
            t.view(b, s, self.heads, w // self.heads).permute(0, 2, 1, 3)
            for t in self.c_attn(x).split(w, dim=2)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(w // self.heads)
        mask = self.bias[:, :, :s, :s].bool()
        scores = torch.where(mask, scores, torch.full((), torch.finfo(scores.dtype).min, dtype=scores.dtype))
        mixed = self.attn_dropout(F.softmax(scores, dim=-1)) @ v
        return self.resid_dropout(self.c_proj(mixed.permute(0, 2, 1, 3).contiguous().view(b, s, w)))


class MLP(nn.Module):
    def __init__(self, width: int, p: float) -> None:
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.c_fc(x)
        x = 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))
        return self.dropout(self.c_proj(x))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, positions: int, p: float) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), SelfAttention(width, heads, positions, p)
        self.ln_2, self.mlp = nn.LayerNorm(width), MLP(width, p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Decoder(nn.Module):
    def __init__(
        self, vocabulary: int, positions: int, width: int, heads: int, layers: int, p: float
    ) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.drop = nn.Dropout(p)
        self.h = nn.ModuleList(Block(width, heads, positions, p) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        x = self.drop(self.wte(ids) + self.wpe(places))
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class GPT2(nn.Module):
    """GPT-2 small with a tied head; returns logits and, with labels, the loss."""

    def __init__(
        self,
        vocabulary: int = 50257,
        positions: int = 1024,
        width: int = 768,
        heads: int = 12,
        layers: int = 12,
        p: float = 0.1,
    ) -> None:
        super().__init__()
        self.transformer = Decoder(vocabulary, positions, width, heads, layers, p)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, ids: torch.Tensor, labels: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, ...]:
        logits = self.lm_head(self.transformer(ids))
        if labels is None:
            return (logits,)
        ahead, wanted = logits[:, :-1, :].contiguous(), labels[:, 1:].contiguous()
        return F.cross_entropy(ahead.view(-1, ahead.shape[-1]), wanted.view(-1)), logits


class BertLayer(nn.Module):
    def __init__(self, width: int, heads: int, p: float) -> None:
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(width, width),
            nn.Linear(width, width),
            nn.Linear(width, width),
        )
        self.dense, self.norm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down, self.out_norm = (
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
            nn.LayerNorm(width),
        )
        self.drop_scores, self.drop, self.drop_out = nn.Dropout(p), nn.Dropout(p), nn.Dropout(p)
        self.heads = heads

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask
        mixed = (self.drop_scores(scores.softmax(-1)) @ v).permute(0, 2, 1, 3).contiguous().view(x.shape)
        x = self.norm(self.drop(self.dense(mixed)) + x)
        return self.out_norm(self.drop_out(self.down(F.gelu(self.up(x)))) + x)


class Embeddings(nn.Module):
    def __init__(self, vocabulary: int, width: int, p: float) -> None:
        super().__init__()
        self.word, self.position, self.kind = (nn.Embedding(n, width) for n in (vocabulary, 512, 2))
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(p)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        x = self.word(ids) + self.kind(torch.zeros_like(ids)) + self.position(places)
        return self.drop(self.norm(x))


class Predictions(nn.Module):
    def __init__(self, word: nn.Embedding, vocabulary: int, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.transform, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.tied = word.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(self.norm(F.gelu(self.transform(x))), self.tied, self.bias)


class BERT(nn.Module):
    """BERT for pre-training: masked words and the next sentence, called with named inputs."""

    def __init__(
        self, vocabulary: int = 30522, width: int = 768, heads: int = 12, layers: int = 12, p: float = 0.1
    ) -> None:
        super().__init__()
        self.embeddings = Embeddings(vocabulary, width, p)
        self.layers = nn.ModuleList(BertLayer(width, heads, p) for _ in range(layers))
        self.pooler = nn.Linear(width, width)
        self.predictions = Predictions(self.embeddings.word, vocabulary, width)
        self.next_sentence = nn.Linear(width, 2)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor, next_label: torch.Tensor) -> dict:
        mask = torch.zeros(input_ids.shape[0], 1, 1, input_ids.shape[1])
        x = self.embeddings(input_ids)
        for layer in self.layers:
            x = layer(x, mask)
        first = torch.tanh(self.pooler(x[:, 0]))
        words, pair = self.predictions(x), self.next_sentence(first)
        loss = F.cross_entropy(words.view(-1, words.shape[-1]), labels.view(-1)) + F.cross_entropy(
            pair, next_label
        )
        return {"loss": loss, "logits": words}


class Squash(torch.autograd.Function):
    """x / (1 + |x|) with a backward of its own."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        below = 1 + x.abs()
        ctx.save_for_backward(below)
        return x / below

    @staticmethod
    def backward(ctx, grad):  # type: ignore[no-untyped-def]
        (below,) = ctx.saved_tensors
        return grad / (below * below)


class Twice(nn.Module):
    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(inside, outside, 3, padding=1), nn.GroupNorm(4, outside)
        self.second, self.second_norm = nn.Conv2d(outside, outside, 3, padding=1), nn.BatchNorm2d(outside)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = Squash.apply(self.first_norm(self.first(x)))
        return F.silu(self.second_norm(self.second(x)))


class UNet(nn.Module):
    """Three levels, skip connections, a custom activation; segmentation into `classes`."""

    def __init__(self, channels: int = 3, classes: int = 5, width: int = 16) -> None:
        super().__init__()
        self.down = nn.ModuleList(
            [Twice(channels, width), Twice(width, 2 * width), Twice(2 * width, 4 * width)]
        )
        self.up = nn.ModuleList(
            [
                nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2),
                nn.ConvTranspose2d(2 * width, width, 2, stride=2),
            ]
        )
        self.back = nn.ModuleList([Twice(4 * width, 2 * width), Twice(2 * width, width)])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = a = self.down[0](x)
        x = b = self.down[1](F.max_pool2d(x, 2))
        x = self.down[2](F.max_pool2d(x, 2))
        x = self.back[0](torch.cat([self.up[0](x), b], 1))
        x = self.back[1](torch.cat([self.up[1](x), a], 1))
        return self.head(x)


class LSTM(nn.Module):
    """A language model: embedding, two LSTM layers, a projection onto the vocabulary."""

    def __init__(self, vocabulary: int = 10000, width: int = 256, hidden: int = 512, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, layers, batch_first=True, dropout=0.2)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.embedding(ids))[0]).permute(0, 2, 1)


def ids(batch: int, length: int, vocabulary: int = 1000) -> torch.Tensor:
    return torch.arange(batch * length).view(batch, length) % vocabulary
