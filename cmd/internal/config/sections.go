package config

import (
	"reflect"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
	"github.com/ipsecd/ipsecd/ike"
)

// sections are those of one kind that clients have loaded, and what of the files' they have unloaded. They are never
// changed: the methods return changed copies.
type sections struct {
	list     []*settings.Section
	unloaded []string
}

func (s sections) has(n *settings.Section) bool {
	return slices.ContainsFunc(s.list, func(o *settings.Section) bool { return o.Name == n.Name && reflect.DeepEqual(o, n) })
}

// with puts n in the place of the section of its name, or at the end.
func (s sections) with(n *settings.Section) sections {
	list := slices.Clone(s.list)
	if i := slices.IndexFunc(list, func(o *settings.Section) bool { return o.Name == n.Name }); i >= 0 {
		list[i] = n
	} else {
		list = append(list, n)
	}
	return sections{list, slices.DeleteFunc(slices.Clone(s.unloaded), func(name string) bool { return name == n.Name })}
}

// without takes away what was loaded, and nothing of the files.
func (s sections) without(name string) sections {
	return sections{slices.DeleteFunc(slices.Clone(s.list), func(o *settings.Section) bool { return o.Name == name }), s.unloaded}
}

// unload takes away a section of the files, too.
func (s sections) unload(name string) sections {
	s = s.without(name)
	return sections{s.list, append(slices.Clip(s.unloaded), name)}
}

// shown returns what counts of what the files have: what clients have neither unloaded nor loaded another of.
func shown[T any](files []T, s sections, name func(T) string) []T {
	if len(files) == 0 {
		return nil
	}
	hidden := make(map[string]bool, len(s.list)+len(s.unloaded))
	for _, o := range s.list {
		hidden[o.Name] = true
	}
	for _, n := range s.unloaded {
		hidden[n] = true
	}
	return slices.DeleteFunc(slices.Clone(files), func(v T) bool { return hidden[name(v)] })
}

// remaining returns what stays of s when the files have been read anew: what they do not have themselves.
func remaining[T any](s sections, files []T, name func(T) string) sections {
	names := make(map[string]bool, len(files))
	for _, v := range files {
		names[name(v)] = true
	}
	return sections{list: slices.DeleteFunc(slices.Clone(s.list), func(o *settings.Section) bool { return names[o.Name] })}
}

func connectionName(c *ike.Connection) string { return c.Name }
func poolName(p *ike.Pool) string             { return p.Name }
func authorityName(a Authority) string        { return a.Name }
