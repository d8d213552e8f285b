//go:build lab

package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// tunnelInterface is an xfrm interface.
type tunnelInterface struct {
	name      string
	ifID      int
	addresses []string
	mtu       int
}

// addInterfaces makes xfrm interfaces for a daemon that does not do so itself.
func addInterfaces(t *testing.T, n *labtest.Netns, interfaces []tunnelInterface) {
	t.Helper()
	var commands []string
	for _, i := range interfaces {
		commands = append(commands, fmt.Sprintf("link add %s type xfrm dev lo if_id %d", i.name, i.ifID))
		for _, a := range i.addresses {
			nodad := ""
			if strings.Contains(a, ":") {
				nodad = " nodad"
			}
			commands = append(commands, "addr add "+a+" dev "+i.name+nodad)
		}
		commands = append(commands, fmt.Sprintf("link set %s mtu %d up", i.name, i.mtu))
	}
	n.IP(t, commands...)
}

// removeInterfaces undoes addInterfaces.
func removeInterfaces(t *testing.T, n *labtest.Netns, interfaces []tunnelInterface) {
	t.Helper()
	var commands []string
	for _, i := range interfaces {
		commands = append(commands, "link del "+i.name)
	}
	n.IP(t, commands...)
}

// interfacesConf is the interfaces section of ipsecd.conf.
func interfacesConf(interfaces []tunnelInterface) string {
	var b strings.Builder
	b.WriteString("interfaces {\n")
	for _, i := range interfaces {
		fmt.Fprintf(&b, "    %s {\n        if_id = %d\n        addresses = %s\n        mtu = %d\n    }\n",
			i.name, i.ifID, strings.Join(i.addresses, ", "), i.mtu)
	}
	b.WriteString("}\n")
	return b.String()
}

// usIsCharon says whether strongSwan plays our side.
func usIsCharon() bool { return os.Getenv("LAB_US") == "charon" }

// needIpsecd skips a scenario of something that strongSwan does not have.
func needIpsecd(t *testing.T) {
	t.Helper()
	if usIsCharon() {
		t.Skip("LAB_US=charon: this scenario is about ipsecd alone")
	}
}

// startUs starts our side: ipsecd, or with LAB_US=charon strongSwan and the
// interfaces that it does not make.
func startUs(t *testing.T, n *labtest.Netns, conns []connection, interfaces []tunnelInterface) labtest.Vici {
	t.Helper()
	if usIsCharon() {
		return startCharon(t, n, conns, interfaces).Vici
	}
	return startIpsecd(t, n, conns, interfaces, "").Vici
}

// startIpsecd starts ipsecd with connections, interfaces and further sections.
func startIpsecd(t *testing.T, n *labtest.Netns, conns []connection, interfaces []tunnelInterface, sections string) *labtest.Ipsecd {
	t.Helper()
	conf := "include swanctl.conf\n" + interfacesConf(interfaces) + sections
	return labtest.StartIpsecd(t, n, conf, map[string]string{"swanctl.conf": swanctlConf(conns)})
}

// startCharon starts strongSwan with the same.
func startCharon(t *testing.T, n *labtest.Netns, conns []connection, interfaces []tunnelInterface) *labtest.Charon {
	t.Helper()
	addInterfaces(t, n, interfaces)
	t.Cleanup(func() { removeInterfaces(t, n, interfaces) })
	c := labtest.StartCharon(t, n)
	c.Load(t, swanctlConf(conns))
	return c
}
