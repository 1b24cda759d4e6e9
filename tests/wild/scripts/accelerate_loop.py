"""accelerate's idiom: `prepare`, `accumulate`, `gather_for_metrics`, `save_state` and
`load_state`."""

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FEATURES, WIDTH, CLASSES = 128, 512, 4


def loader_of(count, shuffle):
    return DataLoader(TensorDataset(torch.randn(count, FEATURES), torch.randint(CLASSES, (count,))),
                      batch_size=16, shuffle=shuffle)


def main():
    set_seed(42)
    accelerator = Accelerator(gradient_accumulation_steps=2,
                              mixed_precision="bf16" if torch.cuda.is_available() else "no")
    model = nn.Sequential(nn.Linear(FEATURES, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(),
                          nn.Linear(WIDTH, CLASSES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=20)
    model, optimizer, train, validation, schedule = accelerator.prepare(
        model, optimizer, loader_of(64, True), loader_of(40, False), schedule)
    for epoch in range(2):
        model.train()
        for x, y in train:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        model.eval()
        hits, seen = 0, 0
        for x, y in validation:
            with torch.no_grad():
                predictions = model(x).argmax(dim=-1)
            predictions, references = accelerator.gather_for_metrics((predictions, y))
            hits, seen = hits + (predictions == references).sum().item(), seen + len(references)
        accelerator.print(f"epoch {epoch}: accuracy {hits / seen:.3f} of {seen}")
        accelerator.save_state(f"states/epoch_{epoch}")
    accelerator.load_state("states/epoch_1")
    accelerator.wait_for_everyone()
    accelerator.save(accelerator.unwrap_model(model).state_dict(), "model.pt")
    accelerator.end_training()


if __name__ == "__main__":
    main()
