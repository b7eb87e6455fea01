"""How many runs on one instance? Samples in, Sample or Stop out; pure."""
