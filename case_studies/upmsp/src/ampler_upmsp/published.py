"""The numbers of Campelo & Wanner (2019), Tables 1 and 2, to set ours beside them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a table: mean percent difference full − variant (as a share), half-width at the Holm level, d, p."""

    variant: str
    estimate: float
    half_width: float
    effect_size: float
    p_value: float
    rejected: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The interval at the Holm level of its rank."""
        return self.estimate - self.half_width, self.estimate + self.half_width


# Section 6 and Figure 3: 57 instances, of which three spent the budget; the runs are those of the published data
FIRST_INSTANCES, FIRST_RUNS, FIRST_AT_BUDGET = 57, 23_271, 3
SECOND_INSTANCES = 200

FIRST = (
    Published("no-SWP.no-TSK", -0.79, 0.15, -2.2, 3.7e-23, rejected=True),
    Published("no-TSK.no-2SH", -0.56, 0.14, -1.6, 1.7e-17, rejected=True),
    Published("no-DSW.no-TSK", -0.58, 0.15, -1.6, 5.2e-17, rejected=True),
    Published("no-TSK", -0.55, 0.15, -1.6, 1.0e-16, rejected=True),
    Published("no-SWT.no-TSK", -0.54, 0.15, -1.5, 4.4e-16, rejected=True),
    Published("no-SHF.no-TSK", -0.55, 0.15, -1.5, 6.3e-16, rejected=True),
    Published("no-SHF.no-2SH", -0.034, 0.012, -1.2, 3.6e-12, rejected=True),
    Published("no-DSW.no-2SH", -0.036, 0.017, -0.85, 3.5e-8, rejected=True),
    Published("no-2SH", -0.032, 0.016, -0.77, 3.3e-7, rejected=True),
    Published("no-DSW.no-SWP", -0.056, 0.033, -0.67, 4.5e-6, rejected=True),
    Published("no-SWT.no-2SH", -0.021, 0.015, -0.57, 6.0e-5, rejected=True),
    Published("no-DSW.no-SWT", -0.021, 0.019, -0.41, 0.003, rejected=True),
    Published("no-SHF.no-DSW", -0.014, 0.018, -0.29, 0.03),
    Published("no-SHF.no-SWT", -0.0097, 0.013, -0.28, 0.038),
    Published("no-DSW", -0.011, 0.019, -0.22, 0.1),
    Published("no-SWP.no-2SH", -0.0089, 0.022, -0.15, 0.27),
    Published("no-SHF", -0.0045, 0.011, -0.15, 0.27),
    Published("no-SWT", 0.0035, 0.0099, 0.12, 0.37),
    Published("no-SHF.no-SWP", 0.0033, 0.015, 0.071, 0.6),
    Published("no-SWP.no-SWT", 0.003, 0.015, 0.06, 0.65),
    Published("no-SWP", 0.0016, 0.012, 0.036, 0.79),
)


SECOND = (
    Published("no-SWP.no-SWT", 0.018, 0.022, 0.15, 0.032),
    Published("no-SWP", 0.017, 0.022, 0.14, 0.043),
    Published("no-SHF.no-SWP", 0.015, 0.021, 0.13, 0.072),
    Published("no-SHF.no-SWP.no-SWT", 0.013, 0.021, 0.11, 0.12),
    Published("no-SHF", 0.0087, 0.019, 0.077, 0.28),
    Published("no-SHF.no-SWT", 0.0084, 0.018, 0.075, 0.29),
    Published("no-SWT", 5.3e-5, 0.0048, 0.0015, 0.98),
)
