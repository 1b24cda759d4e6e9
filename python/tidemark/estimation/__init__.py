"""Runs a training script on virtual GPUs and says what its memory would be."""
