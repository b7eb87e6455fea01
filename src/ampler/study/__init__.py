"""A study written down: what is compared (plan, study.toml) and what was run (study.db)."""
