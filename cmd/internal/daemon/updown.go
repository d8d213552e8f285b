package daemon

import (
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/updown"
)

// updownStop is how long a stop waits for the scripts that are told of it.
const updownStop = 5 * time.Second

func updownOptions(c *config.Config) updown.Options {
	return updown.Options{Timeout: c.Updown.Timeout, DNS: c.Updown.DNS}
}

// outgoing returns the device by which packets to a peer leave.
func outgoing(local, remote netip.Addr) string {
	if !local.IsValid() {
		return ""
	}
	routes, err := netlink.RouteGetWithOptions(remote.AsSlice(), &netlink.RouteGetOptions{SrcAddr: local.AsSlice()})
	if err != nil || len(routes) == 0 {
		return ""
	}
	link, err := netlink.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return ""
	}
	return link.Attrs().Name
}
