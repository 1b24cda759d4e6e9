"""BERT's idiom: tokens masked at random on the CPU, and a head over the masked rows alone."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

VOCAB, WIDTH, LAYERS, LENGTH, BATCH, MASK, PAD = 2000, 128, 2, 64, 16, 1, 0
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    labels = ids.clone()
    masked = (torch.rand(ids.shape) < 0.15) & (ids != PAD)
    labels[~masked] = -100
    replaced = torch.bernoulli(torch.full(labels.shape, 0.8)).bool() & masked
    ids[replaced] = MASK
    randomised = torch.bernoulli(torch.full(labels.shape, 0.5)).bool() & masked & ~replaced
    ids[randomised] = torch.randint(2, VOCAB, labels.shape)[randomised]
    return ids, labels


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH, padding_idx=PAD)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids, labels):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.size(1), device=ids.device)))
        x = self.encoder(x, src_key_padding_mask=ids == PAD)
        chosen = labels != -100
        return F.cross_entropy(self.head(x[chosen]), labels[chosen]), chosen.sum()


torch.manual_seed(0)
texts = [torch.randint(2, VOCAB, (int(n),)) for n in torch.randint(LENGTH // 2, LENGTH, (3 * BATCH,))]
model = Bert().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 100))
model.train()
for ids, labels in DataLoader(texts, batch_size=BATCH, shuffle=True, collate_fn=collate):
    loss, count = model(ids.to(device), labels.to(device))
    assert count.item() == (labels != -100).sum().item() > 0
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    warmup.step()
    model.zero_grad()
    print(f"{count.item()} masked, loss {loss.item():.4f}, perplexity {torch.exp(loss).item():.1f}")
