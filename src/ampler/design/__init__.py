"""How many instances a comparison needs, which power it reaches, which effect it can detect. Pure."""

from ampler.design.questions import Design as Design
from ampler.design.questions import achieved_power as achieved_power
from ampler.design.questions import detectable_effect as detectable_effect
from ampler.design.questions import effect_from as effect_from
from ampler.design.questions import n_comparisons as n_comparisons
from ampler.design.questions import power_curve as power_curve
from ampler.design.questions import required_instances as required_instances
