"""The words we share: values, errors, contracts; no statistics, no files."""
