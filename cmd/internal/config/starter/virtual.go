package starter

import "strings"

// virtual reads leftsourceip, addresses that we ask the peer for, and rightsourceip,
// from which it gets one.
func (c *conn) virtual() {
	if v, ok := c.left.get("sourceip"); ok {
		var vips []string
		for _, item := range list(v.Text) {
			switch item {
			case "%config4":
				item = "0.0.0.0"
			case "%config6":
				item = "::"
			case "%config", "%cfg", "%modeconfig", "%modecfg":
				item = c.family()
			}
			vips = append(vips, item)
		}
		put(c.ike, "vips", v, strings.Join(vips, ", "))
	}
	v, ok := c.right.get("sourceip")
	if !ok {
		return
	}
	// A pool that is not named is named by its addresses, which other connections may share.
	var names []string
	pool := func(addrs string) {
		names = append(names, addrs)
		p := c.root.Sub("pools", v.Position).Sub(addrs, v.Position)
		put(p, "addrs", v, addrs)
		if dns, ok := c.right.get("dns"); ok {
			put(p, "dns", dns, dns.Text)
		}
	}
	for _, item := range list(v.Text) {
		switch {
		case strings.HasPrefix(item, "%config"), item == "%cfg", item == "%modeconfig", item == "%modecfg":
			pool("%config") // the peer's own choice
		case strings.HasPrefix(item, "%"):
			names = append(names, item[1:])
		default:
			pool(item)
		}
	}
	if names != nil {
		put(c.ike, "pools", v, strings.Join(names, ", "))
	}
}

// family is the address that stands for any of the family of the traffic.
func (c *conn) family() string {
	for _, e := range []*end{c.left, c.right} {
		if v, ok := e.get("subnet"); ok {
			if strings.Contains(v.Text, ".") {
				return "0.0.0.0"
			}
			return "::"
		}
	}
	if a, ok := c.left.single(); ok && a.Is6() {
		return "::"
	}
	return "0.0.0.0"
}
