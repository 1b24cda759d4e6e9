"""Lightning's idiom by hand: `step(closure)`, validation under inference_mode, the best two
checkpoints kept."""

import os
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, BATCH = 256, 64


class LitAutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 16))
        self.decoder = nn.Sequential(nn.Linear(16, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 784))
        self.logged = {}

    def log(self, name, value):
        self.logged[name] = value.detach()

    def training_step(self, batch, batch_idx):
        x = batch.view(batch.size(0), -1)
        loss = F.mse_loss(self.decoder(self.encoder(x)), x)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x = batch.view(batch.size(0), -1)
        self.log("val_loss", F.mse_loss(self.decoder(self.encoder(x)), x))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class ModelCheckpoint:
    def __init__(self, folder, save_top_k):
        self.folder, self.save_top_k, self.best = Path(folder), save_top_k, {}

    def on_validation_end(self, model, optimizer, epoch):
        score, path = model.logged["val_loss"].item(), self.folder / f"epoch={epoch}.ckpt"
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        torch.save({"epoch": epoch, "state_dict": model.state_dict(),
                    "optimizer_states": [optimizer.state_dict()]}, unfinished)
        os.replace(unfinished, path)
        self.best[path] = score
        while len(self.best) > self.save_top_k:
            worst = max(self.best, key=self.best.get)
            del self.best[worst]
            worst.unlink()
        assert sorted(self.folder.iterdir()) == sorted(self.best)


class Trainer:
    def __init__(self, max_epochs, callbacks):
        self.max_epochs, self.callbacks = max_epochs, callbacks
        self.device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")

    def fit(self, model, batches, validation):
        model.to(self.device)
        optimizer = model.configure_optimizers()
        for epoch in range(self.max_epochs):
            model.train()
            for index, batch in enumerate(batches):
                self.optimize(model, optimizer, batch.to(self.device), index)
            model.eval()
            with torch.inference_mode():
                for index, batch in enumerate(validation):
                    model.validation_step(batch.to(self.device), index)
            for callback in self.callbacks:
                callback.on_validation_end(model, optimizer, epoch)

    def optimize(self, model, optimizer, batch, index):
        def closure():
            loss = model.training_step(batch, index)
            optimizer.zero_grad()
            loss.backward()
            return loss

        optimizer.step(closure=closure)


torch.manual_seed(7)
images = [torch.rand(BATCH, 28, 28) for _ in range(4)]
Trainer(max_epochs=4, callbacks=[ModelCheckpoint("checkpoints", save_top_k=2)]).fit(
    LitAutoEncoder(), images[:2], images[2:])
