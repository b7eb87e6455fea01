from ampler.plots import draw_power_profiles, power_profiles_data

data = power_profiles_data(effect=0.5, power=0.9, comparisons=range(1, 31))
ax = draw_power_profiles(data)
