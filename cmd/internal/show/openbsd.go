package show

import (
	"fmt"
	"io"
	"strings"
)

// OpenBSD writes what OpenBSD's ipsecctl(8) writes for -s sa, -s flow and -s all,
// without keys. Only "all" has titles.
func OpenBSD(w io.Writer, r *Report, what string) error {
	var text string
	switch what {
	case "flow":
		text = flows(r)
	case "sa":
		text = sad(r)
	case "all":
		text = "FLOWS:\n" + orElse(flows(r), "No flows\n") + "\nSAD:\n" + orElse(sad(r), "No entries\n")
	default:
		return fmt.Errorf("-s %s: sa, flow or all is expected", what)
	}
	_, err := io.WriteString(w, text)
	return err
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// flows writes a line for each policy. Forward policies are left out: OpenBSD
// has no such flows.
func flows(r *Report) string {
	ids := map[uint32]*SA{}
	for i := range r.SAs {
		for _, c := range r.SAs[i].Children {
			ids[c.ReqID] = &r.SAs[i]
		}
	}
	var b strings.Builder
	for _, p := range r.Policies {
		if p.Direction == "fwd" {
			continue
		}
		fmt.Fprintf(&b, "flow esp %s%s from %s to %s", p.Direction, flowProtocol(p.Protocol), flowEnd(p.Source, p.SrcPort), flowEnd(p.Dest, p.DstPort))
		if p.Local != "" {
			fmt.Fprintf(&b, " local %s peer %s", p.Local, p.Peer)
		}
		if sa := ids[p.ReqID]; sa != nil && p.ReqID != 0 {
			fmt.Fprintf(&b, " srcid %s dstid %s", Clean(sa.LocalID), Clean(sa.RemoteID))
		}
		fmt.Fprintf(&b, " type %s\n", flowTypes[p.Action])
	}
	return b.String()
}

var flowTypes = map[string]string{actionProtect: "require", "block": "deny", "allow": "bypass"}

func flowProtocol(p uint8) string {
	if p == 0 {
		return ""
	}
	return " proto " + protocolString(p)
}

func flowEnd(prefix, port string) string {
	if port == "" {
		return prefix
	}
	return prefix + " port " + port
}

// sad writes two lines for each CHILD_SA: its SAs.
func sad(r *Report) string {
	var b strings.Builder
	for i := range r.SAs {
		for _, c := range r.SAs[i].Children {
			mode, algorithms := strings.ToLower(c.Mode), openBSDAlgorithms(c.Proposal)
			fmt.Fprintf(&b, "esp %s from %s to %s spi 0x%s%s\n", mode, c.Local, c.Remote, c.SPIOut, algorithms)
			fmt.Fprintf(&b, "esp %s from %s to %s spi 0x%s%s\n", mode, c.Remote, c.Local, c.SPIIn, algorithms)
		}
	}
	return b.String()
}

// openBSDAlgorithms translates a proposal such as aes128-sha256-modp2048.
func openBSDAlgorithms(proposal string) string {
	var auth, enc string
	for _, word := range strings.Split(proposal, "-") {
		if n, ok := openBSDAuth[word]; ok {
			auth = " auth " + n
		}
		if n, ok := openBSDEnc[word]; ok {
			enc = " enc " + n
		}
	}
	return auth + enc
}

var openBSDAuth = map[string]string{
	"sha1": "hmac-sha1", "sha256": "hmac-sha2-256", "sha384": "hmac-sha2-384", "sha512": "hmac-sha2-512",
}

var openBSDEnc = map[string]string{
	"aes128": "aes", "aes192": "aes-192", "aes256": "aes-256",
	"aes128ctr": "aes-128-ctr", "aes192ctr": "aes-192-ctr", "aes256ctr": "aes-256-ctr",
	"aes128gcm16": "aes-128-gcm", "aes192gcm16": "aes-192-gcm", "aes256gcm16": "aes-256-gcm",
	"chacha20poly1305": "chacha20-poly1305", "null": "null",
}
