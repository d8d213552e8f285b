# shellcheck shell=bash
# later.sh: packages of a later Debian than this machine's: an apt of its own, with a package database in which nothing is
# installed. Nothing of it is installed either.
LATER_MIRROR=${LAB_LATER_MIRROR:-} # empty: the mirror of Debian that this machine uses
LATER_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# later_mirror: where later releases come from; nothing where apt is configured with no mirror of Debian.
later_mirror() {
    [ -z "$LATER_MIRROR" ] || { echo "$LATER_MIRROR"; return; }
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sed -n 's|/$||; /\/debian$/{p;q}'
}

# later_update DIR SUITE: makes that apt in DIR, for later_apt.
later_update() {
    local dir=$1 suite=$2 mirror
    mirror=$(later_mirror)
    [ -e $LATER_KEYRING ] || apt_install debian-archive-keyring
    mkdir -p "$dir"/{lists/partial,cache/archives/partial}
    : >"$dir/status"
    echo "deb [signed-by=$LATER_KEYRING] $mirror $suite main" >"$dir/sources.list"
    cat >"$dir/conf" <<CONF
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "-";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Debug::NoLocking "1";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
    later_apt "$dir" apt-get -qq update >&2 ||
        die "apt-get update of Debian $suite failed: it comes from $mirror; check the network and $LATER_KEYRING"
}

# later_apt DIR COMMAND...: an apt command with that apt.
later_apt() { APT_CONFIG=$1/conf "${@:2}"; }

# later_fetch DIR DEBS PACKAGE...: the .deb files, into DEBS.
later_fetch() {
    local dir=$1 debs=$2
    shift 2
    mkdir -p "$debs"
    (cd "$debs" && later_apt "$dir" apt-get -qq download "$@" >&2) || die "apt-get could not download: $*"
}
