"""An executor that is interrupted, for tests of studies that go on afterwards."""

from ampler.testing import SerialExecutor


class Cut(SerialExecutor):
    """An executor that is interrupted after so many chunks."""

    def __init__(self, after):
        super().__init__()
        self.after = after

    def submit(self, call, /, *arguments):
        if self.after == 0:
            raise KeyboardInterrupt
        self.after -= 1
        return super().submit(call, *arguments)
