Trainer(a=[1,(2,{"x":FSDP(b=-1e3)}),"""t"""], **k, f=f"{x}")
