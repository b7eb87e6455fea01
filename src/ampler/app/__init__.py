"""The fronts: thin; they read options and lay out words that live below."""
