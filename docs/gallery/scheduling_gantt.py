from ampler_upmsp.annealing import Parameters, anneal
from ampler_upmsp.gantt import draw_gantt, gantt_data
from ampler_upmsp.instance import generate_instance

instance = generate_instance(jobs=50, machines=10, largest_setup=9, seed=1)
result = anneal(instance, seed=1, iterations=3_000_000, parameters=Parameters(iterations_per_temperature=20_000))
ax = draw_gantt(gantt_data(instance, result.solution))
