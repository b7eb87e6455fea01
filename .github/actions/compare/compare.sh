#!/usr/bin/env bash
# Compares BASE with CANDIDATE on INSTANCES and exits with the gate's code: 0 pass, 3 regression, 4 inconclusive.
set -uo pipefail

read -r -a instances <<< "${INSTANCES:-}"
files=()
for pattern in "${instances[@]}"; do
  matches=()
  mapfile -t matches < <(compgen -G "$pattern" || printf '%s\n' "$pattern")
  files+=("${matches[@]}")
done

ampler compare "$BASE" "$CANDIDATE" "${files[@]}" --names base,candidate --same \
  --precision "${PRECISION:-1}" --budget "${BUDGET:-100}" --store compare.db || exit

options=(--markdown comment.md --junit gate.xml)
[ -n "${TOLERATE:-}" ] && options+=(--tolerate "$TOLERATE")
[ "${ALLOW:-true}" = true ] && options+=(--allow-inconclusive)
ampler gate compare.db "${options[@]}"
code=$?

[ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f comment.md ] && cat comment.md >> "$GITHUB_STEP_SUMMARY"
if [ -n "${GITHUB_OUTPUT:-}" ] && [ -f comment.md ]; then
  sed -n '1s/^### ampler: /outcome=/p' comment.md >> "$GITHUB_OUTPUT"
fi
exit "$code"
