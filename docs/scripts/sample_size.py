"""How many instances does a comparison need, and what can those at hand detect?"""

import ampler as am

print(am.required_instances(comparisons=21, effect=0.5, power=0.8))
print(am.detectable_effect(instances=30, comparisons=21, power=0.8).effect)
print([round(point.power, 2) for point in am.power_curve(instances=30, comparisons=3, effects=[0.3, 0.5, 0.8])])
