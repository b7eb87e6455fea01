"""Studies to start from: ampler init and ampler demo."""
