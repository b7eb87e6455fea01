"""Runs in and out: every table people have becomes runs, runs become tables."""
