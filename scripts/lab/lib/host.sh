# shellcheck shell=bash
# host.sh: a run on the host's own kernel.

host_prepare() {
    local missing=() pkg
    [ "$(id -u)" = 0 ] || die "LAB=host makes network namespaces: it must run as root"
    command -v ip >/dev/null || apt_install iproute2
    command -v modprobe >/dev/null || apt_install kmod
    host_check
    for pkg in $(peer_packages); do
        dpkg-query -W -f '${Status}' "$pkg" 2>/dev/null | grep -q 'install ok installed' || missing+=("$pkg")
    done
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
    mkdir -p "$CACHE"
    prepare_charon6
}

# host_check: ESP and xfrm interfaces, tried in a namespace of their own.
host_check() {
    local ns=lab-check-$$ lacks=
    ip netns add "$ns" || die "cannot make network namespaces here"
    ip -n "$ns" link add x0 type xfrm dev lo if_id 1 2>/dev/null || lacks="xfrm interfaces (CONFIG_XFRM_INTERFACE)"
    ip -n "$ns" xfrm state add src 127.0.0.1 dst 127.0.0.2 proto esp spi 0x1000 mode tunnel \
        aead 'rfc4106(gcm(aes))' 0x0102030405060708090a0b0c0d0e0f1011121314 128 2>/dev/null ||
        lacks="${lacks:+$lacks and }ESP with AES-GCM (CONFIG_INET_ESP, CONFIG_CRYPTO_GCM)"
    ip netns del "$ns"
    [ -z "$lacks" ] || die "this kernel ($(uname -r)) lacks $lacks; without LAB=host the lab brings its own kernel"
}

host_run() {
    local prog
    prog=$(find_program "$1")
    shift
    [ -n "$SHARE" ] || SHARE=$(mktemp -d "${TMPDIR:-/tmp}/lab.XXXXXX")
    mkdir -p "$SHARE"
    exec env "${ENVIRON[@]}" LAB=host LAB_CHARON6="$CHARON6_LAYER/opt/charon6" LAB_SHARE="$(realpath -- "$SHARE")" timeout -k 5 "$TIMEOUT" "$prog" "$@"
}
