from ampler.plots import draw_sample_sizes, sample_sizes_data

data = sample_sizes_data(effect=0.5, power=0.9, comparisons=range(1, 31))
ax = draw_sample_sizes(data)
