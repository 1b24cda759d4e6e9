"""A variational autoencoder in float: residual down and up by transposed convolutions, a loader with workers, Adam."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, LATENT = 128, 256


class Pictures(Dataset):
    def __len__(self):
        return 4 * 96

    def __getitem__(self, number):
        return torch.rand(3, SIDE, SIDE, generator=torch.Generator().manual_seed(number)), number % 10


class VAE(nn.Module):
    def __init__(self, widths=(32, 64, 128, 256, 512)):
        super().__init__()
        down, up, before = [], [], 3
        for width in widths:
            down += [nn.Conv2d(before, width, 3, 2, 1), nn.BatchNorm2d(width), nn.LeakyReLU()]
            before = width
        self.encoder = nn.Sequential(*down, nn.Flatten())
        self.side = SIDE // 2 ** len(widths)
        self.mu, self.var = (nn.Linear(before * self.side**2, LATENT) for _ in range(2))
        self.begin = nn.Linear(LATENT, before * self.side**2)
        for width in (*reversed(widths[:-1]), widths[0]):
            up += [nn.ConvTranspose2d(before, width, 3, 2, 1, output_padding=1), nn.BatchNorm2d(width), nn.LeakyReLU()]
            before = width
        self.decoder = nn.Sequential(*up, nn.Conv2d(before, 3, 3, padding=1), nn.Sigmoid())

    def forward(self, x):
        hidden = self.encoder(x)
        mu, log_var = self.mu(hidden), self.var(hidden)
        z = torch.randn_like(mu) * torch.exp(0.5 * log_var) + mu
        return self.decoder(self.begin(z).view(len(x), -1, self.side, self.side)), mu, log_var


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda")
    model = VAE().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loader = DataLoader(Pictures(), batch_size=96, shuffle=True, num_workers=2, pin_memory=True, drop_last=True)
    model.train()
    for step, (images, _) in enumerate(loader):
        images = images.to(device)
        optimizer.zero_grad()
        again, mu, log_var = model(images)
        far = F.binary_cross_entropy(again, images, reduction="sum")
        loss = far - 0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())
        loss.backward()
        optimizer.step()
        print(f"{step}: {loss.item() / len(images):.3f}")
    model.eval()
    with torch.no_grad():
        model.decoder(model.begin(torch.randn(64, LATENT, device=device)).view(64, -1, model.side, model.side))
