import lightning as L
from lightning.pytorch.strategies import DeepSpeedStrategy

trainer = L.Trainer(
    accelerator="gpu", devices=4, num_nodes=args.nodes,
    strategy=DeepSpeedStrategy(stage=3, offload_optimizer=True),
    precision="bf16-mixed", max_epochs=3, callbacks=[Checkpoint("best", mode="min")],
)
trainer.fit(model)
