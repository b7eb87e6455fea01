"""The mathematics: arrays in, numbers out; knows no study and no instance names."""
