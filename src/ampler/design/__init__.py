"""How many instances a comparison needs, which power it reaches, which effect it can detect. Pure."""

from ampler.design.designs import Design as Design
from ampler.design.designs import achieved_power as achieved_power
from ampler.design.designs import detectable_effect as detectable_effect
from ampler.design.designs import effect_from as effect_from
from ampler.design.designs import n_comparisons as n_comparisons
from ampler.design.designs import power_curve as power_curve
from ampler.design.designs import required_instances as required_instances
