package vici

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/sys/unix"
)

// version answers as charon does: daemon, version and the kernel's names.
func (c *call) version() error {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return err
	}
	c.reply.Key("daemon", "ipsecd")
	c.reply.Key("version", c.ctl.Status().Version)
	c.reply.Key("sysname", unix.ByteSliceToString(u.Sysname[:]))
	c.reply.Key("release", unix.ByteSliceToString(u.Release[:]))
	c.reply.Key("machine", unix.ByteSliceToString(u.Machine[:]))
	return nil
}

// stats answers what monitoring reads: uptime and the number of IKE SAs.
func (c *call) stats() error {
	st := c.ctl.Status()
	b := c.reply
	b.Section("uptime", func() {
		b.Key("running", duration(time.Since(st.Started)))
		b.Key("since", st.Started.Format(sinceLayout))
	})
	b.Section("workers", func() {
		b.Keyf("total", "%d", runtime.NumGoroutine())
		b.Key("idle", "0")
		b.Section("active", func() {
			for _, p := range []string{"critical", "high", "medium", "low"} {
				b.Key(p, "0")
			}
		})
	})
	b.Section("queues", func() {
		for _, p := range []string{"critical", "high", "medium", "low"} {
			b.Key(p, "0")
		}
	})
	b.Key("scheduled", "0")
	b.Section("ikesas", func() {
		b.Keyf("total", "%d", len(st.Engine.IKESAs))
		b.Keyf("half-open", "%d", st.Engine.Counters.HalfOpen)
	})
	b.List("plugins", []string{"kernel-netlink", "socket-default", "vici"})
	b.Section("mallinfo", func() { writeMemory(b) })
	return nil
}

// writeMemory writes the heap in the terms of mallinfo, in octets.
func writeMemory(b *Builder) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	used, free := samples[0].Value.Uint64(), uint64(0)
	for _, s := range samples[1:] {
		free += s.Value.Uint64()
	}
	b.Keyf("sbrk", "%d", used+free)
	b.Key("mmap", "0")
	b.Keyf("used", "%d", used)
	b.Keyf("free", "%d", free)
}

// sinceLayout is how charon writes a time; exporters parse it.
const sinceLayout = "Jan 02 15:04:05 2006"

// duration writes a duration as charon does, in the largest unit of which there are
// more than two.
func duration(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}} {
		if d > 2*u.size {
			return fmt.Sprintf("%d %s", d/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}
