package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// udpFiles list the UDP sockets of our network namespace.
var udpFiles = []string{"/proc/self/net/udp", "/proc/self/net/udp6"}

// socketDrops returns how many messages the kernel has dropped because the sockets of some ports
// had no room.
func socketDrops(ports ...uint16) (uint64, error) {
	var sum uint64
	for _, name := range udpFiles {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a host without IPv6
		}
		if err != nil {
			return 0, err
		}
		n, err := parseDrops(f, ports)
		f.Close()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		sum += n
	}
	return sum, nil
}

// parseDrops adds up the last column, "drops", of the sockets whose address, the second column, is that of all
// of the host's and a port: "00000000:01F4".
func parseDrops(r io.Reader, ports []uint16) (uint64, error) {
	var sum uint64
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 3 {
			continue
		}
		address, port, _ := strings.Cut(f[1], ":")
		n, err := strconv.ParseUint(port, 16, 16)
		if err != nil || strings.Trim(address, "0") != "" || !slices.Contains(ports, uint16(n)) {
			continue
		}
		drops, err := strconv.ParseUint(f[len(f)-1], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += drops
	}
	return sum, sc.Err()
}
