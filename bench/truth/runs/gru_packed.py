"""Tagging with a bidirectional GRU over packed sequences of many lengths in float, Adam."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

WORDS, TAGS, WIDTH = 60000, 50, 640


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.gru = nn.GRU(WIDTH, WIDTH, 2, batch_first=True, bidirectional=True, dropout=0.2)
        self.head = nn.Linear(2 * WIDTH, TAGS)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embed(words), lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return self.head(out)


torch.manual_seed(0)
model = Tagger().to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for step in range(4):
    lengths = torch.randint(20, 201, (128,))
    longest = int(lengths.max())
    words = torch.randint(1, WORDS, (128, longest))
    words[torch.arange(longest)[None, :] >= lengths[:, None]] = 0
    tags = torch.randint(0, TAGS, (128, longest)).masked_fill(words == 0, -1)
    words, tags = words.cuda(), tags.cuda()
    loss = F.cross_entropy(model(words, lengths).reshape(-1, TAGS), tags.view(-1), ignore_index=-1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} longest {longest} loss {loss.item():.4f}")
