#!/bin/bash
# Installs the live-test peers into one folder: two releases of the reference Marmot implementation (mdk-python),
# a newer C library and Python to run them on Debian 12, a virtual environment with nostr-sdk, websockets, Locust, and
# validators for the configuration schema, load reports and Kubernetes manifests, dbus-fast, Selenium with axe-core for
# Debian's Chromium, which it installs; and one with nostr-relay.
# Run once as root on Debian 12, amd64. Running it again only verifies. Nothing needs root afterwards.
#
#   setup-peers.sh [DIR]                          DIR defaults to .build/peers at the top of the repository
#   DIR/venv/bin/python Tests/Interop/selftest.py
set -euo pipefail

readonly MDK_VERSIONS="0.8.0 0.7.0"
readonly NOSTR_SDK_VERSION=0.45.1
readonly WEBSOCKETS_VERSION=15.0.1
readonly JSONSCHEMA_VERSION=4.26.0
readonly PYYAML_VERSION=6.0.3
readonly LOCUST_VERSION=2.47.0
readonly PROMETHEUS_CLIENT_VERSION=0.26.0
readonly NOSTR_RELAY_VERSION=1.14
readonly KUBERNETES_VALIDATE_VERSION=1.37.0
# For the verifier of Marmot v2.
readonly CRYPTOGRAPHY_VERSION=48.0.0
# For the tests of the console in Debian's Chromium; the second brings axe-core.
readonly SELENIUM_VERSION=4.48.0
readonly AXE_VERSION=0.1.8
# For the pairing program of the appliance bot, as in bots/epicura/pairing/requirements.txt.
readonly DBUS_FAST_VERSION=5.2.0
readonly SUITE=trixie
# The libraries that CPython and MDK load; the rest of the base system is left out.
readonly PACKAGES="libc6 libgcc-s1 libssl3t64 zlib1g libffi8 libexpat1 libsqlite3-0 libbz2-1.0 liblzma5
    libpython3.13-minimal libpython3.13-stdlib python3.13-minimal"

DIR=$(realpath -m "${1:-$(dirname "$0")/../../.build/peers}")
readonly DIR

say() { printf 'setup-peers: %s\n' "$*"; }
fail() { printf 'setup-peers: %s\n' "$*" >&2; exit 1; }

install_tools() {
    local missing=() tool
    for tool in debootstrap unzip; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
    [[ -x /usr/bin/chromium && -x /usr/bin/chromedriver ]] || missing+=(chromium chromium-driver fonts-dejavu-core)
    ((${#missing[@]})) || return 0
    ((EUID == 0)) || fail "root is needed once, to install: ${missing[*]}"
    say "installing Debian packages: ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The archive this machine's apt already uses for its own release.
debian_mirror() {
    local release
    # shellcheck disable=SC1091 # always there on Debian
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016 # apt's own placeholders
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$release" '$2 == release && $3 == "main" { sub("/$", "", $1); print $1; exit }'
}

install_root() {
    local root=$DIR/$SUITE mirror package deb
    [[ -e $root/.complete ]] && return 0
    ((EUID == 0)) || fail "root is needed once, for debootstrap"
    mirror=$(debian_mirror)
    [[ -n $mirror ]] || fail "no Debian archive for this release in apt's sources"
    say "downloading the $SUITE base system with debootstrap"
    rm -rf "$root" "$root.download"
    debootstrap --download-only --variant=minbase --include=python3 "$SUITE" "$root.download" "$mirror" \
        >"$DIR/debootstrap.log" 2>&1 || { tail -5 "$DIR/debootstrap.log" >&2; fail "debootstrap failed"; }
    mkdir -p "$root"
    for package in $PACKAGES; do
        deb=$(find "$root.download/var/cache/apt/archives" -name "${package}_*.deb" -print -quit)
        [[ -n $deb ]] || fail "$package is not in the $SUITE base system"
        dpkg-deb --extract "$deb" "$root"
    done
    rm -rf "$root.download"
    touch "$root/.complete"
    say "unpacked $(wc -w <<<"$PACKAGES") packages into $root ($(du -sh "$root" | cut -f1))"
}

install_venv() {
    local wanted="nostr-sdk==$NOSTR_SDK_VERSION websockets==$WEBSOCKETS_VERSION"
    wanted+=" jsonschema==$JSONSCHEMA_VERSION PyYAML==$PYYAML_VERSION"
    wanted+=" locust==$LOCUST_VERSION prometheus_client==$PROMETHEUS_CLIENT_VERSION"
    wanted+=" kubernetes-validate==$KUBERNETES_VALIDATE_VERSION cryptography==$CRYPTOGRAPHY_VERSION"
    wanted+=" dbus-fast==$DBUS_FAST_VERSION selenium==$SELENIUM_VERSION"
    local axe="axe-playwright-python==$AXE_VERSION"
    [[ $(cat "$DIR/venv/.complete" 2>/dev/null) == "$wanted $axe" ]] && return 0
    say "creating the virtual environment: $wanted $axe"
    rm -rf "$DIR/venv"
    /usr/bin/python3 -m venv "$DIR/venv"
    # shellcheck disable=SC2086 # several words on purpose
    "$DIR/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: $wanted
    # Without the browsers that it would bring.
    "$DIR/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "$axe"
    echo "$wanted $axe" >"$DIR/venv/.complete"
}

# nostr-relay has its own environment, because it needs another release of websockets than the tests.
install_relay() {
    local wanted="nostr-relay==$NOSTR_RELAY_VERSION"
    [[ $(cat "$DIR/relay-venv/.complete" 2>/dev/null) == "$wanted" ]] && return 0
    say "creating the environment of $wanted"
    rm -rf "$DIR/relay-venv"
    /usr/bin/python3 -m venv "$DIR/relay-venv"
    "$DIR/relay-venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$wanted"
    echo "$wanted" >"$DIR/relay-venv/.complete"
}

install_mdk() {
    local version=$1 folder=$DIR/mdk-$1
    [[ -e $folder/.complete ]] && return 0
    say "downloading mdk-python $version"
    rm -rf "$folder"
    mkdir -p "$folder"
    "$DIR/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --python-version 3.13 --platform manylinux_2_39_x86_64 --dest "$folder" "mdk-python==$version"
    unzip -q "$folder"/*.whl 'mdk/*' -x '*.dylib' '*.dll' -d "$folder"
    rm "$folder"/*.whl
    touch "$folder/.complete"
}

# DIR/mdk-python VERSION ARGUMENT…: the newer Python with that MDK on its path, started by its own dynamic loader.
write_launcher() {
    cat >"$DIR/mdk-python" <<'LAUNCHER'
#!/bin/sh
here=$(dirname "$(realpath "$0")")
root=$here/trixie
library=$root/usr/lib/x86_64-linux-gnu
version=$1
shift
export PYTHONHOME="$root/usr" PYTHONPATH="$here/mdk-$version" PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$library" "$root/usr/bin/python3.13" -S "$@"
LAUNCHER
    chmod +x "$DIR/mdk-python"
}

verify() {
    local version
    for version in $MDK_VERSIONS; do
        "$DIR/mdk-python" "$version" -c '
import platform, mdk.version
from mdk import new_mdk_with_key
print("setup-peers: mdk-python", mdk.version.__version__, "on Python", platform.python_version())'
    done
    "$DIR/venv/bin/python" -c '
import platform
from importlib.metadata import version
from nostr_sdk import Keys, LocalRelayBuilder, NostrLmdb
import websockets.asyncio.client
print("setup-peers: nostr-sdk", version("nostr-sdk"), "on Python", platform.python_version())'
}

[[ $(dpkg --print-architecture) == amd64 ]] || fail "mdk-python ships an amd64 library only"
mkdir -p "$DIR"
install_tools
install_root
install_venv
install_relay
for version in $MDK_VERSIONS; do
    install_mdk "$version"
done
write_launcher
verify
say "ready: $DIR"
