package nl

import (
	"fmt"
	"strconv"
	"strings"
)

// ifindex resolves the interface of a selector: a name, "#17" for an index, or
// empty for none.
func (k *Kernel) ifindex(name string) (int, error) {
	if name == "" {
		return 0, nil
	}
	if n, ok := strings.CutPrefix(name, "#"); ok {
		return strconv.Atoi(n)
	}
	l, err := k.route.LinkByName(name)
	if err != nil {
		return 0, err
	}
	return l.Attrs().Index, nil
}

// ifname is the reverse of ifindex.
func (k *Kernel) ifname(index int) string {
	if index == 0 {
		return ""
	}
	l, err := k.route.LinkByIndex(index)
	if err != nil {
		return fmt.Sprintf("#%d", index)
	}
	return l.Attrs().Name
}

// nameCache asks for each index once per dump.
type nameCache struct {
	k     *Kernel
	names map[int]string
}

func (c *nameCache) get(index int) string {
	if index == 0 {
		return ""
	}
	name, ok := c.names[index]
	if !ok {
		if c.names == nil {
			c.names = map[int]string{}
		}
		name = c.k.ifname(index)
		c.names[index] = name
	}
	return name
}
