package vici

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/ike"
)

// servicesFile names the services of ports (services(5)).
const servicesFile = "/etc/services"

// selectors writes traffic selectors as charon does: a port by the name that this host has for it, an ICMP type and
// code apart.
func selectors(list []ike.TrafficSelector) []string {
	out := show.Selectors(list)
	for i, ts := range list {
		if text := portText(ts, services()); text != "" {
			out[i] = out[i][:strings.LastIndexByte(out[i], '/')+1] + text + "]"
		}
	}
	return out
}

// portText returns what stands for the ports of a selector, empty where they are numbers.
func portText(ts ike.TrafficSelector, names map[service]string) string {
	switch {
	case ts.StartPort > ts.EndPort || ts.StartPort == 0 && ts.EndPort == 0xffff:
		return ""
	case ts.Protocol == 1 || ts.Protocol == 58:
		wholeType := ts.StartPort&0xff == 0 && ts.EndPort == ts.StartPort|0xff
		if ts.StartPort == ts.EndPort || wholeType {
			return icmpText(ts.StartPort)
		}
		return icmpText(ts.StartPort) + "-" + icmpText(ts.EndPort)
	case ts.StartPort != ts.EndPort:
		return ""
	}
	return names[service{ts.Protocol, ts.StartPort}]
}

// icmpText writes a type and a code (RFC 7296 section 3.13.1: the upper and the lower octet).
func icmpText(port uint16) string {
	if code := port & 0xff; code != 0 {
		return fmt.Sprintf("%d(%d)", port>>8, code)
	}
	return strconv.Itoa(int(port >> 8))
}

type service struct {
	protocol uint8 // 0: the first of any
	port     uint16
}

// services are the names of this host, read once.
var services = sync.OnceValue(func() map[service]string {
	b, err := os.ReadFile(servicesFile)
	if err != nil {
		return nil // ports are numbers then
	}
	return parseServices(b)
})

var transports = map[string]uint8{"tcp": 6, "udp": 17, "sctp": 132}

// parseServices reads services(5); the first name of a port counts.
func parseServices(file []byte) map[service]string {
	names := map[service]string{}
	add := func(s service, name string) {
		if names[s] == "" {
			names[s] = name
		}
	}
	for s := bufio.NewScanner(bytes.NewReader(file)); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		number, transport, _ := strings.Cut(fields[1], "/")
		port, err := strconv.ParseUint(number, 10, 16)
		if protocol := transports[transport]; err == nil && protocol != 0 {
			add(service{protocol, uint16(port)}, fields[0])
			add(service{0, uint16(port)}, fields[0])
		}
	}
	return names
}
