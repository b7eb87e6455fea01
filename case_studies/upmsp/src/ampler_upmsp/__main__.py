"""`python -m ampler_upmsp`: the command `upmsp-solve`."""

import sys

from ampler_upmsp.command import main

sys.exit(main())
