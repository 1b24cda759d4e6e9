"""The idiom of transformers' Trainer: arguments, a collator, evaluation, checkpoints, and a
resume."""

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


def trainer_for(max_steps):
    config = GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=2, n_head=4)
    args = TrainingArguments(
        output_dir="out", max_steps=max_steps, per_device_train_batch_size=4,
        per_device_eval_batch_size=8, eval_strategy="steps", eval_steps=2, save_steps=2,
        save_total_limit=1, logging_steps=1, report_to=[], dataloader_num_workers=0,
        gradient_accumulation_steps=2, bf16=torch.cuda.is_available())
    return Trainer(model=GPT2LMHeadModel(config), args=args, train_dataset=Sentences(64),
                   eval_dataset=Sentences(16))


trainer_for(2).train()
trainer = trainer_for(4)
trainer.train(resume_from_checkpoint=True)
trainer.save_model("out/final")
print(trainer.evaluate())
