"""A figure that is drawn once when it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase


class Sheet(Figure):
    """A figure with room for all its words.

    Before it saves a figure, matplotlib draws it into the void to find that room, and then saves it without a layout.
    Here the first of the two only lays out, which is all it is for, and saving takes less time.
    """

    def draw(self, renderer: RendererBase) -> None:
        """Draw, or lay out where that is what the drawing is for."""
        layout = self.get_layout_engine()
        if self.canvas.is_saving() and isinstance(layout, ConstrainedLayoutEngine):
            layout.execute(self)
        else:
            super().draw(renderer)
