# shellcheck shell=bash
# apt.sh: packages, by the distribution's own tools.

# apt_update: once per run, and only when something could not be found without.
APT_UPDATED=
apt_update() {
    [ -z "$APT_UPDATED" ] || return 0
    say "apt-get update"
    apt-get -qq update >&2 || die "apt-get update failed: the lab fetches its kernel and peers with apt-get, check the network and /etc/apt"
    APT_UPDATED=1
}

# apt_install PACKAGE...: onto the host, without starting the services that come with them.
apt_install() {
    local policy=/usr/sbin/policy-rc.d own= rc=0
    [ "$(id -u)" = 0 ] || die "must be root to install: $*"
    say "installing $*"
    if [ ! -e $policy ]; then
        own=1
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
    fi
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null ||
        { apt_update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null; } || rc=$?
    [ -z "$own" ] || rm -f $policy
    [ $rc = 0 ] || die "apt-get could not install: $*"
}

# apt_fetch DIR PACKAGE...: the .deb files, not installed.
apt_fetch() {
    local dir=$1
    shift
    mkdir -p "$dir"
    (cd "$dir" && apt-get -qq -o APT::Sandbox::User=root download "$@") >&2 2>/dev/null ||
        { apt_update; (cd "$dir" && apt-get -qq -o APT::Sandbox::User=root download "$@") >&2; } ||
        die "apt-get could not download: $*"
}

# unpack_debs DIR DEB...: into a tree where /bin, /sbin and /lib are links into /usr.
unpack_debs() {
    local dir=$1 deb d
    shift
    for d in bin sbin lib lib64; do
        mkdir -p "$dir/usr/$d"
        [ -L "$dir/$d" ] || ln -s "usr/$d" "$dir/$d"
    done
    for deb in "$@"; do
        dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$dir"
    done
}

# package_depends PACKAGE PATTERN: the first dependency of PACKAGE that PATTERN (sed) matches.
package_depends() {
    apt-cache show --no-all-versions "$1" 2>/dev/null |
        sed -n "s/^Depends: .*\($2\).*/\1/p" | head -1
}

# have_package PACKAGE: whether apt knows it.
have_package() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }
