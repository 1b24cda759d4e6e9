"""`tidemark calibrate`: what operators take on a real GPU beyond their results, measured and kept."""
