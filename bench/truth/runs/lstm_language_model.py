"""A language model of three LSTM layers in float, truncated backpropagation, SGD with clipping."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, BATCH, LENGTH = 33278, 1024, 96, 70


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.drop = nn.Dropout(0.4)
        self.lstm = nn.LSTM(WIDTH, WIDTH, 3, dropout=0.3)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, state):
        out, state = self.lstm(self.drop(self.embed(tokens)), state)
        return self.head(self.drop(out)), state


torch.manual_seed(0)
device = torch.device("cuda")
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
text = torch.randint(0, VOCABULARY, (LENGTH * 5 + 1, BATCH), device=device)
state = None
for step, start in enumerate(range(0, LENGTH * 5, LENGTH)):
    tokens, targets = text[start : start + LENGTH], text[start + 1 : start + LENGTH + 1]
    if state is not None:
        state = tuple(part.detach() for part in state)
    model.zero_grad()
    logits, state = model(tokens, state)
    loss = F.cross_entropy(logits.view(-1, VOCABULARY), targets.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    if step % 2 == 0:
        print(f"loss {loss.item():.3f}")
