# shellcheck shell=bash
# charon6.sh: a second strongSwan beside the distribution's: release 6, which does several key exchanges and ML-KEM.
#
# It comes from a later Debian, with the libraries that it needs, into a tree of its own: $CHARON6_LAYER/opt/charon6, which scenarios
# enter by chroot. Debian 13 has 6.0.1, built without ML-KEM; what comes after 13 has it.
CHARON6_SUITE=${LAB_CHARON6_SUITE-forky} # empty: without it
CHARON6_PACKAGES="charon-systemd libstrongswan-standard-plugins libstrongswan-extra-plugins iproute2"

# prepare_charon6: fills $CHARON6_LAYER.
prepare_charon6() {
    local tmp key list mirror
    mirror=$(later_mirror)
    if [ -z "$CHARON6_SUITE" ] || [ -z "$mirror" ]; then
        [ -z "$CHARON6_SUITE" ] || say "apt here knows no mirror of Debian: the scenarios with strongSwan 6 will fail; LAB_LATER_MIRROR names one"
        CHARON6_LAYER=$CACHE/charon6-none
        mkdir -p "$CHARON6_LAYER/opt/charon6"
        return 0
    fi
    key=$(echo "$CHARON6_SUITE $mirror $CHARON6_PACKAGES" | sha256sum | cut -c1-12)
    CHARON6_LAYER=$CACHE/charon6-$key
    [ ! -e "$CHARON6_LAYER/.ready" ] || return 0
    say "fetching strongSwan 6 of Debian $CHARON6_SUITE"
    tmp=$CACHE/tmp.$$
    rm -rf "$tmp"
    mkdir -p "$tmp/root/opt/charon6"
    later_update "$tmp/apt" "$CHARON6_SUITE"
    # shellcheck disable=SC2086
    list=$(later_apt "$tmp/apt" apt-get -s install $CHARON6_PACKAGES 2>/dev/null | awk '$1 == "Inst" { print $2 }' | sort -u)
    [ -n "$list" ] || die "Debian $CHARON6_SUITE has no installable $CHARON6_PACKAGES"
    # shellcheck disable=SC2086
    later_fetch "$tmp/apt" "$tmp/debs" $list
    unpack_debs "$tmp/root/opt/charon6" "$tmp"/debs/*.deb
    mkdir -p "$tmp"/root/opt/charon6/{dev,proc,run,sys,tmp}
    touch "$tmp/root/.ready"
    rm -rf "$CHARON6_LAYER"
    mv "$tmp/root" "$CHARON6_LAYER"
    rm -rf "$tmp"
}
