//go:build lab

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// setupTime is how long one tunnel may take, key exchange and all.
const setupTime = 90 * time.Second

// variant is one way in which a tunnel differs from the plain one.
type variant struct {
	name     string
	pfs      bool
	rekey    bool // replace the CHILD_SA once: only then does PFS show
	nat      bool // the initiator is behind a NAT
	outside6 bool
	inside6  bool
}

var variants = []variant{
	{name: "nopfs", rekey: true},
	{name: "pfs", pfs: true, rekey: true},
	{name: "nat", nat: true},
	{name: "outside6", outside6: true},
	{name: "inside6", inside6: true},
}

// cell is one tunnel of the matrix.
type cell struct {
	suite
	variant
	initiator bool // we are
	n         int  // of the pair's tunnel
}

func (c cell) label() string {
	role := "responder"
	if c.initiator {
		role = "initiator"
	}
	return strings.Join([]string{c.suite.name, role, c.variant.name}, "-")
}

// matrix lists all cells.
func matrix() []cell {
	var cells []cell
	for _, s := range suites {
		for _, initiator := range []bool{true, false} {
			for _, v := range variants {
				cells = append(cells, cell{s, v, initiator, len(cells) + 1})
			}
		}
	}
	return cells
}

// connection is the cell as our side is configured.
func (c cell) connection(p *pair) connection {
	conn := p.tunnel(c.label(), c.n, c.suite)
	if c.pfs {
		conn.esp = c.espPFS()
	}
	if c.inside6 {
		conn.localTS, conn.remoteTS = "::/0", "::/0"
	}
	switch {
	case c.outside6:
		conn.local, conn.remote = fmt.Sprintf("fd50::1:%d", c.n), fmt.Sprintf("fd50::2:%d", c.n)
	case c.nat:
		conn.local, conn.remote = fmt.Sprintf("10.51.0.%d", c.n), fmt.Sprintf("10.52.0.%d", c.n)
	}
	return conn
}

// ends returns the cell's configuration for both sides. Who answers somebody
// behind a NAT does not know the other's address.
func (c cell) ends(p *pair) (us, them connection) {
	us = c.connection(p)
	them = us.reversed()
	us.start, them.start = false, false
	if c.nat && c.initiator {
		them.remote = "%any"
	}
	if c.nat && !c.initiator {
		us.remote = "%any"
	}
	return us, them
}

// inner returns the addresses inside the tunnel and the interfaces that have them.
func (c cell) inner(p *pair) (us, them string, ours, theirs tunnelInterface) {
	ours, theirs = p.usInterface(c.n), p.themInterface(c.n)
	us, them = p.usInner(c.n), p.themInner(c.n)
	if c.inside6 {
		us, them = fmt.Sprintf("fd20:%d::1", c.n), fmt.Sprintf("fd20:%d::2", c.n)
		ours.addresses, theirs.addresses = []string{us + "/64"}, []string{them + "/64"}
	}
	return us, them, ours, theirs
}

// TestMatrix sets up a tunnel for every suite, role and variant, all between one
// pair of daemons, and sends ping and TCP through each.
func TestMatrix(t *testing.T) {
	p := newPair(t)
	us, them := startCells(t, p, matrix())
	for _, c := range matrix() {
		t.Run(c.label(), func(t *testing.T) { runCell(t, p, c, us, them) })
	}
	t.Run("driver", checkAESNI)
}

// startCells starts both daemons with the tunnels of all cells, none of them up.
func startCells(t *testing.T, p *pair, cells []cell) (us, them labtest.Vici) {
	t.Helper()
	var ourConns, theirConns []connection
	var ourInterfaces, theirInterfaces []tunnelInterface
	for _, c := range cells {
		us, them := c.ends(p)
		ourConns, theirConns = append(ourConns, us), append(theirConns, them)
		_, _, ours, theirs := c.inner(p)
		ourInterfaces, theirInterfaces = append(ourInterfaces, ours), append(theirInterfaces, theirs)
	}
	them = startCharon(t, p.them, theirConns, theirInterfaces).Vici
	us = startUs(t, p.us, ourConns, ourInterfaces)
	labtest.IperfServers(t, p.them, firstPort)
	return us, them
}

func runCell(t *testing.T, p *pair, c cell, us, them labtest.Vici) {
	initiator := them
	if c.initiator {
		initiator = us
	}
	initiator.Initiate(t, c.label())
	awaitChild(t, c.label(), us, them)
	if c.rekey {
		rekeyCell(t, c, initiator, us, them)
	}
	ourAddr, theirAddr, _, _ := c.inner(p)
	labtest.Ping(t, p.us, 2, theirAddr)
	labtest.Ping(t, p.them, 2, ourAddr)
	const bytes = 100_000
	got := labtest.RunFlows(t, labtest.Flow{From: p.us, To: theirAddr, Port: firstPort, Bytes: bytes})
	// iperf3 ends when it has sent all; the last of it may not have been counted.
	if got[0].Bytes == 0 {
		t.Error("TCP moved nothing")
	}
	// Pings and acknowledgements are the least that flows back.
	checkCarried(t, p.us, c.n, c.algorithm, c.nat, 4*84)
	checkCarried(t, p.them, c.n, c.algorithm, c.nat, 4*84)
}

// awaitChild waits until both sides have the tunnel, and have it once.
func awaitChild(t *testing.T, child string, sides ...labtest.Vici) {
	t.Helper()
	for _, side := range sides {
		labtest.WaitFor(t, setupTime, child+" installed", func() error {
			_, err := side.Child(child)
			return err
		})
	}
}

// rekeyCell replaces the CHILD_SA and checks the key exchange of the new one.
func rekeyCell(t *testing.T, c cell, initiator, us, them labtest.Vici) {
	t.Helper()
	old, err := us.Child(c.label())
	if err != nil {
		t.Fatal(err)
	}
	if err := initiator.RekeyChild(c.label()); err != nil {
		t.Fatalf("rekey: %v", err)
	}
	want := ""
	if c.pfs {
		want = c.viciGroup
	}
	for _, side := range []labtest.Vici{us, them} {
		labtest.WaitFor(t, setupTime, c.label()+" rekeyed", func() error {
			now, err := side.Child(c.label())
			switch {
			case err != nil:
				return err
			case now.SPIIn == old.SPIIn || now.SPIIn == old.SPIOut:
				return fmt.Errorf("still the old CHILD_SA %s", now.SPIIn)
			case now.Group != want:
				t.Fatalf("the new CHILD_SA has the key exchange %q, want %q", now.Group, want)
			}
			return nil
		})
	}
}
