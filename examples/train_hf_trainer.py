"""Hugging Face's Trainer on a small Llama made from its configuration; nothing is downloaded."""

import argparse
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class RandomTexts(Dataset):
    def __init__(self, size: int, length: int, vocabulary: int) -> None:
        self.ids = torch.randint(0, vocabulary, (size, length))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    config = LlamaConfig(
        vocab_size=4000, hidden_size=args.width, intermediate_size=4 * args.width,
        num_hidden_layers=args.layers, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=args.length)
    data = RandomTexts(args.batch * args.steps, args.length, config.vocab_size)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, per_device_train_batch_size=args.batch, max_steps=args.steps,
            learning_rate=3e-4, bf16=True, logging_steps=1, report_to=[], save_strategy="no",
            disable_tqdm=True)
        Trainer(LlamaForCausalLM(config), arguments, train_dataset=data).train()


if __name__ == "__main__":
    main()
