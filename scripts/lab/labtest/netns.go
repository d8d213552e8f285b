package labtest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// nsPrefix keeps the lab's namespaces apart from others on the machine.
const nsPrefix = "lab-"

// Netns is a network namespace: one host of a scenario.
type Netns struct {
	Name string // as ip-netns(8) knows it
	Role string // as the scenario calls it
}

// NewNetns makes a namespace with its loopback up. It is deleted when t ends.
func NewNetns(t testing.TB, role string) *Netns {
	t.Helper()
	n := &Netns{Name: nsPrefix + role, Role: role}
	mustRun(t, "", "ip", "netns", "add", n.Name)
	t.Cleanup(func() {
		if _, err := run("", "ip", "netns", "del", n.Name); err != nil {
			t.Error(err)
		}
	})
	n.IP(t, "link set lo up")
	return n
}

// IP runs commands of ip(8), one per string, in the namespace.
func (n *Netns) IP(t testing.TB, commands ...string) {
	t.Helper()
	mustRun(t, strings.Join(commands, "\n")+"\n", "ip", "-n", n.Name, "-batch", "-")
}

// Command prepares a program to run in the namespace.
func (n *Netns) Command(name string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", n.Name, name}, args...)...)
}

// Try runs a program in the namespace and returns its standard output.
func (n *Netns) Try(name string, args ...string) (string, error) {
	return output(n.Command(name, args...))
}

// Run is Try that fails t when the program does.
func (n *Netns) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := n.Try(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Nft loads an nftables ruleset in the namespace.
func (n *Netns) Nft(t testing.TB, ruleset string) {
	t.Helper()
	mustRun(t, ruleset, "ip", "netns", "exec", n.Name, "nft", "-f", "-")
}

// Router makes the namespace forward, hash multipath routes over layer 4, and
// accept packets whose way back is another interface.
func (n *Netns) Router(t testing.TB) {
	t.Helper()
	n.Sysctl(t,
		"net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
		"net.ipv4.fib_multipath_hash_policy=1", "net.ipv6.fib_multipath_hash_policy=1",
		"net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0")
}

// Sysctl sets name=value pairs.
func (n *Netns) Sysctl(t testing.TB, settings ...string) {
	t.Helper()
	n.Run(t, "sysctl", append([]string{"-qw"}, settings...)...)
}

// End is one end of a link.
type End struct {
	Netns     *Netns
	Device    string
	Addresses []string // with prefix length
}

// Link joins two namespaces by a veth pair and brings both ends up.
func Link(t testing.TB, a, b End) {
	t.Helper()
	mustRun(t, "", "ip", "link", "add", a.Device, "netns", a.Netns.Name, "type", "veth", "peer", "name", b.Device, "netns", b.Netns.Name)
	for _, e := range []End{a, b} {
		var commands []string
		for _, addr := range e.Addresses {
			nodad := ""
			if strings.Contains(addr, ":") {
				nodad = " nodad"
			}
			commands = append(commands, "addr add "+addr+" dev "+e.Device+nodad)
		}
		e.Netns.IP(t, append(commands, "link set "+e.Device+" up")...)
	}
}

func mustRun(t testing.TB, stdin, name string, args ...string) string {
	t.Helper()
	out, err := run(stdin, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func run(stdin, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return output(cmd)
}

// output is cmd.Output with an error that shows what the program said.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(stderr.String() + stdout.String())
		return stdout.String(), fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said)
	}
	return stdout.String(), nil
}

// Run runs a program on the machine itself and returns its standard output.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	return mustRun(t, "", name, args...)
}
