"""Write answers.csv: was each of 240 answers about 30 passages right? The models know different passages."""

import random

rng = random.Random(5)
rows = ["passage,question,model,correct"]
for passage in range(30):
    hard = rng.gauss(0, 0.25)
    for question in range(8):
        for model, skill in (("small", 0.55), ("large", 0.68)):
            right = rng.random() < skill + (hard if model == "large" else -hard)
            rows.append(f"p{passage:02},p{passage:02}-q{question},{model},{'yes' if right else 'no'}")
with open("answers.csv", "w") as file:
    file.write("\n".join(rows) + "\n")
