"""FSDP2 of a small transformer: layers and root, bf16 gathers, fp32 reductions."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

try:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
except ImportError:
    from torch.distributed._composable.fsdp import MixedPrecisionPolicy, fully_shard

rank, local, world = (int(os.environ[name]) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
torch.cuda.set_device(local)
dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (world,))
with torch.device("meta"):
    embedding = nn.Embedding(1000, 256)
    layers = nn.ModuleList(nn.TransformerEncoderLayer(256, 4, 1024, 0.0, batch_first=True) for _ in range(4))
    head = nn.Linear(256, 1000, bias=False)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.layers, self.head = embedding, layers, head

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


model = Net()
policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32)
for layer in model.layers:
    fully_shard(layer, mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
model.to_empty(device="cuda")
for parameter in model.parameters():
    nn.init.normal_(parameter, std=0.02)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(5):
    tokens = torch.randint(0, 1000, (2, 128), device="cuda")
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
