"""A small language model under torchrun: a memory map of tokens, gradient accumulation with no_sync."""

import os
from contextlib import nullcontext

import numpy as np
import torch
from torch import nn
from torch.distributed import destroy_process_group, init_process_group
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

width, layers, heads, tokens, vocabulary, micro_steps = 128, 2, 4, 64, 512, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (y.view(b, t, heads, -1).transpose(1, 2) for y in self.attn(self.ln_1(x)).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, width))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.h = nn.ModuleList(Block() for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, vocabulary), targets.view(-1))


ddp = int(os.environ.get("RANK", -1)) != -1
init_process_group(backend="nccl")
local = int(os.environ["LOCAL_RANK"])
device = f"cuda:{local}"
torch.cuda.set_device(device)
master = int(os.environ["RANK"]) == 0
torch.manual_seed(1337 + local)
os.makedirs("out", exist_ok=True)


def batch():
    data = np.memmap(os.path.join("data", "train.bin"), dtype=np.uint16, mode="r")
    places = torch.randint(len(data) - tokens, (8,))
    x = torch.stack([torch.from_numpy(data[i : i + tokens].astype(np.int64)) for i in places])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + tokens].astype(np.int64)) for i in places])
    return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)


model = GPT().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), fused=True)
model = torch.compile(model)
model = DDP(model, device_ids=[local])
x, y = batch()
for step in range(10):
    for micro in range(micro_steps):
        model.require_backward_grad_sync = micro == micro_steps - 1
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            _, loss = model(x, y)
            loss = loss / micro_steps
        x, y = batch()
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if master:
        print(step, loss.item() * micro_steps)
        with open(os.path.join("out", "log.txt"), "a") as log:
            log.write(f"{step}\n")
destroy_process_group()
