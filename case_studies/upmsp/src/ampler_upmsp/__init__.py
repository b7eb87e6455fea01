"""The paper's application: scheduling unrelated parallel machines with sequence-dependent setup times."""
