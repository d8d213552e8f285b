package starter

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// end is left or right.
type end struct {
	r    *reader
	side string
}

// get returns a parameter of this end.
func (e *end) get(names ...string) (settings.Value, bool) {
	full := make([]string, len(names))
	for i, n := range names {
		full[i] = e.side + n
	}
	return e.r.get(full...)
}

// host returns the addresses of the end, less the "%" that stands before one
// that may be another too.
func (e *end) host() (v settings.Value, anyToo bool) {
	v, ok := e.get("")
	if !ok || v.Text == "%defaultroute" {
		v.Text = "%any"
	}
	if rest, found := strings.CutPrefix(v.Text, "%"); found && !strings.HasPrefix(rest, "any") {
		v.Text, anyToo = rest, true
	}
	return v, anyToo || e.r.is(e.side+"allowany", "yes")
}

// single returns the address of the end if it is one.
func (e *end) single() (netip.Addr, bool) {
	v, _ := e.host()
	a, err := netip.ParseAddr(v.Text)
	return a.Unmap(), err == nil && !a.IsUnspecified()
}

// swap makes right us if one of its addresses is this host's.
func (c *conn) swap() {
	if c.opts.NoSwap || c.opts.Local == nil {
		return
	}
	v, _ := c.right.host()
	for _, item := range list(v.Text) {
		if a, err := netip.ParseAddr(item); err == nil && !a.IsUnspecified() && c.opts.Local(a.Unmap()) {
			c.left, c.right = c.right, c.left
			return
		}
	}
}

// addresses writes where the two ends are.
func (c *conn) addresses() {
	for _, side := range []struct {
		end         *end
		addrs, port string
	}{{c.left, "local_addrs", "local_port"}, {c.right, "remote_addrs", "remote_port"}} {
		v, anyToo := side.end.host()
		if anyToo && v.Text != "%any" {
			v.Text += ", 0.0.0.0/0, ::/0"
		}
		put(c.ike, side.addrs, v, v.Text)
		if p, ok := side.end.get("ikeport"); ok {
			put(c.ike, side.port, p, p.Text)
		}
	}
}

// selectors writes the traffic of an end. Without a subnet it is that of the end
// itself.
func (e *end) selectors(t *settings.Tree, key string) {
	suffix := ""
	if v, ok := e.get("protoport"); ok {
		var problem string
		if suffix, problem = protoport(v.Text); problem != "" {
			e.r.bad(v, "%s", problem)
			return
		}
		put(t, key, v, "dynamic"+suffix)
	}
	v, ok := e.get("subnet")
	if !ok {
		return
	}
	if strings.HasPrefix(v.Text, "vhost:") || strings.HasPrefix(v.Text, "vnet:") {
		e.r.bad(v, "virtual hosts are no longer known; expected networks such as 10.1.0.0/16")
		return
	}
	var out []string
	for _, item := range list(v.Text) {
		net, bracket, has := strings.Cut(item, "[")
		s := suffix
		if has {
			var problem string
			if s, problem = protoport(strings.TrimSuffix(bracket, "]")); problem != "" {
				e.r.bad(v, "%s", problem)
				return
			}
		}
		if net = strings.TrimSpace(net); net == "%dynamic" {
			net = "dynamic"
		}
		out = append(out, net+s)
	}
	put(t, key, v, strings.Join(out, ", "))
}

// protoport writes a protocol and a port as a selector of swanctl.conf has them:
// "[tcp/80]", or nothing for all.
func protoport(s string) (text, problem string) {
	proto, port, hasPort := strings.Cut(s, "/")
	proto, port = strings.TrimSpace(proto), strings.TrimSpace(port)
	if proto == "%any" || proto == "" {
		proto = "any"
	}
	switch {
	case !hasPort || port == "" || port == "%any":
		if proto == "any" {
			return "", ""
		}
		return "[" + proto + "]", ""
	case port == "%opaque":
		return "[" + proto + "/opaque]", ""
	}
	first, last, isRange := strings.Cut(port, "-")
	if _, err := strconv.ParseUint(first, 0, 16); err != nil && !isRange {
		n, err := service(proto, first)
		if err != nil {
			return "", "port " + port + ": expected a number up to 65535, a range, the name of a service, %any or %opaque"
		}
		return "[" + proto + "/" + strconv.Itoa(n) + "]", ""
	}
	if isRange {
		first += "-" + last
	}
	return "[" + proto + "/" + first + "]", ""
}

// service returns the port of a service by its name, as /etc/services has it.
func service(proto, name string) (int, error) {
	if proto == "udp" || proto == "17" {
		return net.LookupPort("udp", name)
	}
	return net.LookupPort("tcp", name)
}
