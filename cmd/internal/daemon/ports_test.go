package daemon

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// testPorts are the ports of IKE, each with that of NAT traversal behind it, of the daemons of this run: another run of the tests on this
// machine has others.
var testPorts = sync.OnceValue(func() (ports struct{ first, second, govici int }) {
	taken := map[int]bool{}
	for _, p := range []*int{&ports.first, &ports.second, &ports.govici} {
		for *p == 0 || taken[*p] || !free(*p) || !free(*p+1) {
			*p = 20000 + 2*rand.IntN(6000) // below those that the kernel gives to whom asks for any
		}
		taken[*p] = true
	}
	return ports
})

// free reports whether nobody has a UDP port, at any address.
func free(port int) bool {
	c, err := net.ListenPacket("udp", fmt.Sprintf(":%d", port))
	if err != nil {
		return false
	}
	c.Close()
	return true
}
