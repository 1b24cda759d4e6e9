"""Two bidirectional LSTM layers with projections in float and an adaptive softmax over 150 000 words, Adagrad."""

import torch
from torch import nn

WORDS, WIDTH, HIDDEN, PROJECTED = 150_000, 512, 2048, 512


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, HIDDEN, 2, batch_first=True, bidirectional=True, dropout=0.1, proj_size=PROJECTED)
        self.forth, self.back = nn.Linear(PROJECTED, WIDTH), nn.Linear(PROJECTED, WIDTH)
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(WIDTH, WORDS, [8_000, 40_000], div_value=4.0)

    def forward(self, words):
        out, _ = self.lstm(self.embed(words))
        forth, back = out.chunk(2, dim=-1)
        after = self.softmax(self.forth(forth[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        before = self.softmax(self.back(back[:, 1:]).flatten(0, 1), words[:, :-1].flatten())
        return 0.5 * (after.loss + before.loss)


torch.manual_seed(0)
model = Model().to("cuda")
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)

for step in range(3):
    # Frequent words have small numbers, as adaptive softmax wants it.
    words = (torch.rand(96, 60).pow(6) * WORDS).long().to("cuda")
    loss = model(words)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    print(step, loss.item())
