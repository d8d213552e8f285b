# shellcheck shell=bash
# charon6.sh: a second strongSwan beside the distribution's: release 6, which does several key exchanges and ML-KEM.
#
# It comes from a later Debian, with the libraries that it needs, into a tree of its own: $CHARON6_LAYER/opt/charon6, which scenarios
# enter by chroot. Nothing of it is installed. Debian 13 has 6.0.1, built without ML-KEM; what comes after 13 has it.
CHARON6_SUITE=${LAB_CHARON6_SUITE-forky} # empty: without it
CHARON6_MIRROR=${LAB_CHARON6_MIRROR:-}   # empty: the mirror of Debian that this machine uses
CHARON6_PACKAGES="charon-systemd libstrongswan-standard-plugins libstrongswan-extra-plugins"
CHARON6_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# debian_mirror: the first that apt is configured with; nothing where there is none.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed -n 's|/$||; /\/debian$/{p;q}'
}

# prepare_charon6: fills $CHARON6_LAYER. An apt of its own, with a package database in which nothing is installed.
prepare_charon6() {
    local tmp key list
    [ -n "$CHARON6_MIRROR" ] || CHARON6_MIRROR=$(debian_mirror)
    if [ -z "$CHARON6_SUITE" ] || [ -z "$CHARON6_MIRROR" ]; then
        [ -z "$CHARON6_SUITE" ] || say "apt here knows no mirror of Debian: the scenarios with strongSwan 6 will fail; LAB_CHARON6_MIRROR names one"
        CHARON6_LAYER=$CACHE/charon6-none
        mkdir -p "$CHARON6_LAYER/opt/charon6"
        return 0
    fi
    key=$(echo "$CHARON6_SUITE $CHARON6_MIRROR $CHARON6_PACKAGES" | sha256sum | cut -c1-12)
    CHARON6_LAYER=$CACHE/charon6-$key
    [ ! -e "$CHARON6_LAYER/.ready" ] || return 0
    [ -e $CHARON6_KEYRING ] || apt_install debian-archive-keyring
    say "fetching strongSwan 6 of Debian $CHARON6_SUITE"
    tmp=$CACHE/tmp.$$
    rm -rf "$tmp"
    mkdir -p "$tmp"/apt/{lists/partial,cache/archives/partial} "$tmp/debs" "$tmp/root/opt/charon6"
    : >"$tmp/apt/status"
    echo "deb [signed-by=$CHARON6_KEYRING] $CHARON6_MIRROR $CHARON6_SUITE main" >"$tmp/apt/sources.list"
    cat >"$tmp/apt/conf" <<EOF
Dir::Etc::sourcelist "$tmp/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "-";
Dir::State::lists "$tmp/apt/lists";
Dir::State::status "$tmp/apt/status";
Dir::Cache "$tmp/apt/cache";
Debug::NoLocking "1";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
EOF
    APT_CONFIG=$tmp/apt/conf apt-get -qq update >&2 ||
        die "apt-get update of Debian $CHARON6_SUITE failed: the lab's second strongSwan comes from $CHARON6_MIRROR; check the network and $CHARON6_KEYRING"
    # shellcheck disable=SC2086
    list=$(APT_CONFIG=$tmp/apt/conf apt-get -s install $CHARON6_PACKAGES 2>/dev/null | awk '$1 == "Inst" { print $2 }' | sort -u)
    [ -n "$list" ] || die "Debian $CHARON6_SUITE has no installable $CHARON6_PACKAGES"
    # shellcheck disable=SC2086
    (cd "$tmp/debs" && APT_CONFIG=$tmp/apt/conf apt-get -qq download $list >&2) || die "apt-get could not download strongSwan 6"
    unpack_debs "$tmp/root/opt/charon6" "$tmp"/debs/*.deb
    mkdir -p "$tmp"/root/opt/charon6/{dev,proc,run,sys,tmp}
    touch "$tmp/root/.ready"
    rm -rf "$CHARON6_LAYER"
    mv "$tmp/root" "$CHARON6_LAYER"
    rm -rf "$tmp"
}
