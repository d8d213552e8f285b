package daemon

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
)

// xfrmStatFile holds the kernel's counts of packets that IPsec dropped.
const xfrmStatFile = "/proc/self/net/xfrm_stat"

func xfrmErrors() (map[string]uint64, error) {
	f, err := os.Open(xfrmStatFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseXfrmStat(f)
}

// parseXfrmStat reads lines of a name and a number.
func parseXfrmStat(r io.Reader) (map[string]uint64, error) {
	out := map[string]uint64{}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) != 2 {
			continue
		}
		if n, err := strconv.ParseUint(f[1], 10, 64); err == nil {
			out[f[0]] = n
		}
	}
	return out, sc.Err()
}
