#!/usr/bin/env bash
# Runs a command on what is nearly a new machine: in a new clone of what is committed, with an empty /tmp,
# /var/tmp, /dev/shm and home, no caches, and a plain environment. What works only because something was
# left behind by hand fails here.
#
#   scripts/clean-machine.sh 'npm ci && npm test'
#
# The exit status is the command's. It takes Linux, git and unshare (as root, or where users may make
# namespaces); where these are missing it says so in one line, and runs the command in this folder.
set -euo pipefail

usage="Usage: scripts/clean-machine.sh COMMAND"
case "${1:-}" in
  -h | --help) echo "$usage"; exit 0 ;;
  '' | -*) echo "$usage" >&2; exit 2 ;;
esac
if [ $# -gt 1 ]; then echo "$usage" >&2; exit 2; fi
command="$1"
project="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$project"

run_here() {
  echo "clean-machine: not possible here ($1); the command runs in this folder, with this machine's /tmp and home."
  exec bash -c "$command" </dev/null
}

# Without root, a user namespace gives the right to mount; the command itself gets the user's own id back.
namespaces=(--mount --pid --fork --mount-proc --kill-child)
as_user=()
if [ "$(id -u)" != 0 ]; then
  namespaces=(--map-root-user "${namespaces[@]}")
  as_user=(unshare --user "--map-user=$(id -u)" "--map-group=$(id -g)" --)
fi

for tool in git unshare mount; do
  command -v "$tool" >/dev/null || run_here "there is no $tool"
done
git rev-parse --verify -q HEAD >/dev/null || run_here "this is not a git clone"

# On the disk, not in memory: node_modules is large. Seen as /mnt inside, where /tmp hides it.
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
mkdir "$place/home"

# shellcheck disable=SC2016 # expanded inside
mounts='mount --bind "$1" /mnt && for folder in /tmp /var/tmp /dev/shm; do
  if [ -d "$folder" ]; then mount -t tmpfs -o mode=1777 tmpfs "$folder" || exit; fi
done'
trial="($mounts) && { command -v npm >/dev/null || { echo 'npm is where it would be hidden'; exit 1; }; } && ${as_user[*]} true"
if ! refusal="$(unshare "${namespaces[@]}" bash -c "$trial" - "$place" 2>&1)"; then
  rm -rf "$place"
  run_here "${refusal%%$'\n'*}"
fi
# file://, because a plain path would be linked instead of copied; depth 1 also works from a shallow clone.
if ! refusal="$(git clone -q --depth=1 "file://$project" "$place/project" 2>&1)"; then
  rm -rf "$place"
  run_here "${refusal%%$'\n'*}"
fi

# Of the user's settings only what npm needs to reach its registry, and what this project itself reads.
settings=("HOME=/mnt/home" "PATH=$PATH" "LANG=${LANG:-C.UTF-8}" "TERM=dumb" "CI=true")
keep() {
  if [ -n "${!1:-}" ]; then settings+=("$1=${!1}"); fi
}
for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy CHROMIUM HOLDFAST_TEST_PG; do
  keep "$name"
done
for name in $(compgen -e); do
  case "$(echo "$name" | tr '[:upper:]' '[:lower:]')" in
    npm_config_registry | npm_config_cafile | npm_config_strict_ssl | npm_config_*proxy) keep "$name" ;;
  esac
done
# Files may be where /tmp is hidden, so they come along.
if [ -f "${NODE_EXTRA_CA_CERTS:-}" ]; then
  cp "$NODE_EXTRA_CA_CERTS" "$place/certificates.pem"
  settings+=("NODE_EXTRA_CA_CERTS=/mnt/certificates.pem")
fi
npmrc="$(npm config get userconfig 2>/dev/null || true)"
if [ -f "$npmrc" ]; then
  cp "$npmrc" "$place/home/.npmrc"
  # npm puts the values of variables where its configuration names them.
  for name in $(grep -oE '\$\{[A-Za-z_][A-Za-z0-9_]*' "$npmrc" | tr -d '${' | sort -u); do keep "$name"; done
fi

echo "clean-machine: a new clone of $(git rev-parse --short HEAD), with an empty /tmp and home."
if [ -n "$(git status --porcelain)" ]; then
  echo "clean-machine: what is not committed here is not in it."
fi
status=0
# The first process stays this bash, because it must collect those that others leave behind.
unshare "${namespaces[@]}" bash -c "($mounts) || exit 1; shift; cd /mnt/project && \"\$@\"; exit" - "$place" \
  ${as_user[@]+"${as_user[@]}"} env -i "${settings[@]}" bash -c "$command" </dev/null || status=$?
exit "$status"
