"""Translation in float word by word: a bidirectional GRU, additive attention, GRU cells under teacher forcing, two optimizers."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, LENGTH, WIDTH, WORDS = 96, 40, 512, 12000


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.dropout = nn.Embedding(WORDS, WIDTH, padding_idx=0), nn.Dropout(0.1)
        self.gru = nn.GRU(WIDTH, WIDTH, bidirectional=True, batch_first=True)
        self.join = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, words):
        outputs, hidden = self.gru(self.dropout(self.embed(words)))
        return outputs, torch.tanh(self.join(torch.cat((hidden[0], hidden[1]), 1)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.ask, self.offer, self.score = nn.Linear(WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH), nn.Linear(WIDTH, 1)

    def forward(self, hidden, outputs, padded):
        scores = self.score(torch.tanh(self.ask(hidden).unsqueeze(1) + self.offer(outputs))).squeeze(2)
        weights = F.softmax(scores.masked_fill(padded, float("-inf")), dim=1)
        return torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.dropout = nn.Embedding(WORDS, WIDTH, padding_idx=0), nn.Dropout(0.1)
        self.attention, self.cell = Attention(), nn.GRUCell(3 * WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, word, hidden, outputs, padded):
        context = self.attention(hidden, outputs, padded)
        hidden = self.cell(torch.cat((self.dropout(self.embed(word)), context), 1), hidden)
        return F.log_softmax(self.out(hidden), dim=1), hidden


torch.manual_seed(0)
device = torch.device("cuda")
encoder, decoder = Encoder().to(device), Decoder().to(device)
encoder_optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-3, amsgrad=True)
criterion = nn.NLLLoss(ignore_index=0)

for step in range(3):
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (BATCH, 1))
    source = torch.randint(1, WORDS, (BATCH, LENGTH)).masked_fill(torch.arange(LENGTH) >= lengths, 0).to(device)
    target = torch.randint(1, WORDS, (BATCH, LENGTH)).to(device)
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    outputs, hidden = encoder(source)
    word, loss = torch.ones(BATCH, dtype=torch.long, device=device), 0
    for t in range(LENGTH):
        output, hidden = decoder(word, hidden, outputs, source == 0)
        loss = loss + criterion(output, target[:, t])
        if step == 2:
            word = output.topk(1)[1].squeeze(1).detach()
        else:
            word = target[:, t]
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    print(f"step {step}: {loss.item() / LENGTH:.4f}")
