"""The idiom of transformers' `run_clm.py --fsdp "full_shard auto_wrap"`: the Trainer shards the model."""

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Sentences(Dataset):
    def __init__(self, count):
        self.rows = torch.randint(1000, (count, 64), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


config = GPT2Config(vocab_size=1000, n_positions=64, n_embd=256, n_layer=4, n_head=4)
args = TrainingArguments(
    output_dir="out", max_steps=3, per_device_train_batch_size=4, save_steps=2, logging_steps=1, report_to=[],
    fsdp="full_shard auto_wrap", fsdp_config={"transformer_layer_cls_to_wrap": ["GPT2Block"]})
trainer = Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=Sentences(64))
trainer.train()
trainer.save_model("out/final")
