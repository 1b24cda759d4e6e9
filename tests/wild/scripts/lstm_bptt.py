"""The idiom of word language models: truncated BPTT with a carried state, then packed sequences."""

import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SCALE = int(os.environ.get("WILD_SCALE", "1"))
VOCAB, WIDTH, LAYERS, BATCH, BPTT = 1000, 128 * SCALE, 2, 8 * SCALE, 32
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class WordModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.drop = nn.Embedding(VOCAB, WIDTH), nn.Dropout(0.2)
        self.rnn = nn.LSTM(WIDTH, WIDTH, LAYERS, dropout=0.2)
        self.decoder = nn.Linear(WIDTH, VOCAB)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, ids, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(ids)), hidden)
        return F.log_softmax(self.decoder(self.drop(output)).view(-1, VOCAB), dim=1), hidden

    def of_sentences(self, ids, lengths):
        packed = pack_padded_sequence(self.encoder(ids), lengths, enforce_sorted=False)
        output, _ = self.rnn(packed)
        padded, seen = pad_packed_sequence(output)
        last = padded[seen.to(padded.device) - 1, torch.arange(ids.size(1), device=padded.device)]
        return self.decoder(last)

    def first_state(self, batch):
        zeros = self.encoder.weight.new_zeros(LAYERS, batch, WIDTH)
        return zeros, zeros.clone()


def cut_off(state):
    """The same values, of whose making autograd knows nothing."""
    return tuple(part.detach() for part in state)


torch.manual_seed(1111)
corpus = torch.randint(VOCAB, (4 * BPTT + 1, BATCH)).to(device)
model = WordModel().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
model.train()
hidden, total = model.first_state(BATCH), 0.0
for i in range(0, corpus.size(0) - 1, BPTT):
    data, targets = corpus[i:i + BPTT], corpus[i + 1:i + 1 + BPTT].reshape(-1)
    model.zero_grad()
    hidden = cut_off(hidden)
    output, hidden = model(data, hidden)
    loss = F.nll_loss(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    total += loss.item()
print(f"language model: loss {total / 4:.3f}")

lengths = torch.randint(BPTT // 2, BPTT, (BATCH,))
sentences = torch.randint(VOCAB, (int(lengths.max()), BATCH)).to(device)
optimizer.zero_grad()
next_words = torch.randint(VOCAB, (BATCH,)).to(device)
loss = F.cross_entropy(model.of_sentences(sentences, lengths), next_words)
loss.backward()
optimizer.step()
print(f"sentences: loss {loss.item():.3f}")
with open("model.pt", "wb") as f:
    torch.save(model, f)
