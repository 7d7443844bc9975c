policy = {"Block"}
loader = DataLoader(data, batch_size=48, num_workers=12, pin_memory=True)
model = nn.DataParallel(model, device_ids=[0, 1])
strategy = FSDPStrategy(sharding_strategy="FULL_SHARD", activation_checkpointing_policy=policy)
trainer = Trainer(strategy=strategy, devices=4)
