"""DCGAN's idiom: two networks, two optimizers, real and fake batches, and samples from fixed
noise."""

import os

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy

SCALE = int(os.environ.get("WILD_SCALE", "1"))
NOISE, WIDTH, BATCH, ROUNDS = 64, 16 * SCALE, 16, 3
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def upward(inputs, outputs, stride, padding):
    return nn.Sequential(nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


def downward(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False), nn.BatchNorm2d(outputs),
                         nn.LeakyReLU(0.2, inplace=True))


class Painter(nn.Sequential):
    """From noise to an image of 64 by 64."""

    def __init__(self):
        super().__init__(
            upward(NOISE, 8 * WIDTH, 1, 0), upward(8 * WIDTH, 4 * WIDTH, 2, 1),
            upward(4 * WIDTH, 2 * WIDTH, 2, 1), upward(2 * WIDTH, WIDTH, 2, 1),
            nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1, bias=False), nn.Tanh())


class Critic(nn.Sequential):
    """From an image to how real it looks."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(3, WIDTH, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
            downward(WIDTH, 2 * WIDTH), downward(2 * WIDTH, 4 * WIDTH), downward(4 * WIDTH, 8 * WIDTH),
            nn.Conv2d(8 * WIDTH, 1, 4, 1, 0, bias=False), nn.Sigmoid(), nn.Flatten(0))


def initialise(module):
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        module.weight.data.normal_(0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        module.weight.data.normal_(1.0, 0.02)
        module.bias.data.zero_()


def judged(images, truth):
    """The critic's loss on images that are all real, or all not."""
    verdicts = critic(images)
    return binary_cross_entropy(verdicts, torch.full_like(verdicts, truth))


torch.manual_seed(0)
painter, critic = Painter().to(device).apply(initialise), Critic().to(device).apply(initialise)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
painter_optimizer = torch.optim.Adam(painter.parameters(), lr=2e-4, betas=(0.5, 0.999))
same_noise = torch.randn(BATCH, NOISE, 1, 1, device=device)

for turn in range(ROUNDS):
    photos = torch.rand(BATCH, 3, 64, 64).to(device)
    paintings = painter(torch.randn(BATCH, NOISE, 1, 1, device=device))
    critic_optimizer.zero_grad()
    on_photos = judged(photos, 1.0)
    on_photos.backward()
    on_paintings = judged(paintings.detach(), 0.0)
    on_paintings.backward()
    critic_optimizer.step()
    painter_optimizer.zero_grad()
    fooling = judged(paintings, 1.0)
    fooling.backward()
    painter_optimizer.step()
    print(f"{turn}: critic {on_photos.item() + on_paintings.item():.4f}, painter {fooling.item():.4f}")

painter.eval()
with torch.no_grad():
    torch.save(painter(same_noise).cpu(), "samples.pt")
torch.save(painter.state_dict(), "painter.pth")
torch.save(critic.state_dict(), "critic.pth")
