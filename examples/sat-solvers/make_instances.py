"""Write random formulas in DIMACS format and a table with the expected answers."""

import itertools
import random
from pathlib import Path

VARIABLES, CLAUSES, FORMULAS = 12, 48, 30


def satisfiable(clauses):
    """Try all assignments."""
    return any(
        all(any(values[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in clauses)
        for values in itertools.product([False, True], repeat=VARIABLES)
    )


rng = random.Random(7)
folder = Path("formulas")
folder.mkdir(exist_ok=True)
rows = ["instance,expected"]
for number in range(FORMULAS):
    clauses = [
        [variable * rng.choice([1, -1]) for variable in rng.sample(range(1, VARIABLES + 1), 3)] for _ in range(CLAUSES)
    ]
    lines = [f"p cnf {VARIABLES} {CLAUSES}", *(" ".join(map(str, clause)) + " 0" for clause in clauses)]
    (folder / f"{number:02}.cnf").write_text("\n".join(lines) + "\n")
    rows.append(f"formulas/{number:02}.cnf,{'SATISFIABLE' if satisfiable(clauses) else 'UNSATISFIABLE'}")
Path("expected.csv").write_text("\n".join(rows) + "\n")
