package config

import (
	"slices"
	"testing"
)

func TestWays(t *testing.T) {
	c := loadFiles(t, debian("charon {\n interfaces_use = eth0, eth1\n interfaces_ignore = wlan0\n ignore_routing_tables = 100 main\n}\n"))
	w := c.Routing.Ways
	if !slices.Equal(w.UseLinks, []string{"eth0", "eth1"}) || !slices.Equal(w.IgnoreLinks, []string{"wlan0"}) || !slices.Equal(w.IgnoreTables, []uint32{100, 254}) {
		t.Errorf("%+v", w)
	}
	if len(c.Warnings) != 1 {
		t.Errorf("warnings: %v", c.Warnings)
	}
}
