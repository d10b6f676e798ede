#!/bin/sh
# Builds the page in frontend/ into frontend/dist, when its sources have changed since the last time.
# In: what to do. `build` fails where it can't; `try` only says why and goes on (the server also runs without the page);
# `check` runs the page's linter, types and tests. Needs Node 20 or newer; what the page is made of comes from npm,
# pinned by package-lock.json, and nothing is fetched when it runs.
set -eu

what=${1:-build}
page=$(cd "$(dirname "$0")/../frontend" && pwd)
built=$page/dist/index.html

say() { printf '%s\n' "$*" >&2; }

# Ends: as a failure for `build` and `check`, quietly for `try`.
give_up() {
    say "$1"
    [ "$what" = try ] && exit 0
    exit 1
}

without() {
    if [ -f "$built" ]; then
        give_up "The page is served as it was last built: $1"
    fi
    give_up "The page is not built, so only the API and the command line are there: $1"
}

version=$(node --version 2>/dev/null || true)
major=${version#v}
major=${major%%.*}
[ -n "$version" ] || without "it takes Node 20 or newer, and no node was found (https://nodejs.org)."
[ "$major" -ge 20 ] || without "it takes Node 20 or newer, and this is $version."

changed() {
    [ ! -f "$1" ] || [ -n "$(find "$page/src" "$page/public" "$page/index.html" "$page/vite.config.ts" \
        "$page/package-lock.json" -newer "$1" -print | head -n 1)" ]
}

install() {
    stamp=$page/node_modules/.installed
    if [ -f "$stamp" ] && [ ! "$page/package-lock.json" -nt "$stamp" ]; then
        return 0
    fi
    # npm ci empties the folder first; behind a link it would empty one that other checkouts share.
    [ ! -L "$page/node_modules" ] || rm "$page/node_modules"
    say "Fetching what the page is built from (once)."
    (cd "$page" && npm ci --no-audit --no-fund --loglevel=error >&2) || return 1
    touch "$stamp"
}

case $what in
build | try)
    changed "$built" || exit 0
    install || without "npm could not fetch what it is built from."
    say "Building the page."
    (cd "$page" && npx --no-install vite build --logLevel error >&2) || without "the build failed."
    touch "$built"
    ;;
check)
    install || give_up "npm could not fetch what the page is built from."
    (cd "$page" && npm run --silent lint && npm run --silent test)
    ;;
*)
    say "usage: tools/page.sh build|try|check"
    exit 2
    ;;
esac
