"""A small SAT solver: python dpll.py FORMULA RULE SEED. Exit code 10: satisfiable, 20: unsatisfiable."""

import random
import sys
from collections import Counter


class Search:
    """Unit propagation and branching, which gives up after `most` decisions."""

    def __init__(self, choose, most):
        self.choose, self.most, self.decisions = choose, most, 0

    def solve(self, clauses):
        """Return whether the clauses can hold together."""
        while units := {clause[0] for clause in clauses if len(clause) == 1}:
            for unit in units:
                clauses = assign(clauses, unit)
                if clauses is None:
                    return False
        if not clauses:
            return True
        if self.decisions == self.most:
            return False
        self.decisions += 1
        literal = self.choose(clauses)
        rests = (assign(clauses, branch) for branch in (literal, -literal))
        return any(rest is not None and self.solve(rest) for rest in rests)


def assign(clauses, literal):
    """Make the literal true; None if a clause cannot hold any more."""
    rest = [[other for other in clause if other != -literal] for clause in clauses if literal not in clause]
    return None if [] in rest else rest


def main():
    """Read the formula, solve it and print the answer."""
    path, rule, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(path) as file:
        clauses = [[int(word) for word in line.split()[:-1]] for line in file if not line.startswith("p")]
    rng = random.Random(seed)
    rules = {
        "random": lambda clauses: rng.choice(rng.choice(clauses)),
        "frequent": lambda clauses: Counter(literal for clause in clauses for literal in clause).most_common(1)[0][0],
    }
    hasty = rule == "hasty"  # says "unsatisfiable" after three decisions, and may be wrong
    search = Search(rules["random" if hasty else rule], 3 if hasty else None)
    answer = search.solve(clauses)
    print("d", search.decisions)
    print("s", "SATISFIABLE" if answer else "UNSATISFIABLE")
    sys.exit(10 if answer else 20)


main()
