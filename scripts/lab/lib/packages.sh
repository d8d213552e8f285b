# shellcheck shell=bash
# packages.sh: the peers, as a layer above the host's root.

peer_packages() { sed -e 's/#.*//' -e '/^ *$/d' "$LAB_DIR/packages.txt"; }

# prepare_layer: $LAYER holds the peers and what they need that the host lacks.
prepare_layer() {
    local key tmp list
    key=$({ peer_packages; cat /etc/os-release; } | sha256sum | cut -c1-12)
    LAYER=$CACHE/peers-$key
    [ ! -e "$LAYER/.ready" ] || return 0
    list=$(resolve_peers)
    [ -n "$list" ] || { apt_update; list=$(resolve_peers); }
    [ -n "$list" ] || die "apt cannot resolve the peers' packages: see 'apt-get -s install $(peer_packages | tr '\n' ' ')'"
    say "fetching $(wc -w <<<"$list") packages for the peers"
    tmp=$CACHE/tmp.$$
    rm -rf "$tmp"
    mkdir -p "$tmp/root"
    # shellcheck disable=SC2086
    apt_fetch "$tmp/debs" $list
    unpack_debs "$tmp/root" "$tmp"/debs/*.deb
    touch "$tmp/root/.ready"
    rm -rf "$LAYER"
    mv "$tmp/root" "$LAYER"
    rm -rf "$tmp"
}

# resolve_peers: what apt-get would install; --reinstall, so that the layer has a peer even where the host does.
resolve_peers() {
    # shellcheck disable=SC2046
    apt-get -s -o Debug::NoLocking=1 install --reinstall --no-install-recommends $(peer_packages) 2>/dev/null |
        awk '$1 == "Inst" { print $2 }' | sort -u
}
