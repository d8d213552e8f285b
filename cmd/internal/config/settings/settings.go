package settings

import "github.com/ipsecd/ipsecd/cmd/internal/config/source"

// Position is a place in a file.
type Position = source.Position

// Error is what is wrong at a place.
type Error = source.Error

// Value is what stands after "key =".
type Value struct {
	Position
	Text   string
	Quoted bool   // some of it was in quotes
	As     string // what messages call it; empty: by its key
}

// Key is a key that is set in a section.
type Key struct {
	Name  string
	Value Value
}

// File is a file with all that it includes.
type File struct {
	Root     *Section
	Names    []string // every file read, in order
	Foreign  []string // the files of another grammar, which were not
	Warnings []*Error // what was read and has no effect

	referenced map[string]bool
}

// Referenced reports whether some section inherits from the section of this
// name at the root, or from one inside it.
func (f *File) Referenced(name string) bool { return f.referenced[name] }

// Section is a view of a section with all that it inherits. Views are made when
// they are asked for and cost no memory while unused. A nil Section is empty.
type Section struct {
	Position
	Name   string
	layers []*node // the section itself, then what it inherits, nearest first
}

// node is a section as it was written, in one or in several places.
type node struct {
	Position
	name   string
	keys   []Key
	index  map[string]int // of keys
	subs   []*node
	byName map[string]*node
	refs   []reference
	layers []*node // the node and, by its references, all that it inherits
}

func newNode(name string, at Position) *node {
	return &node{Position: at, name: name, index: map[string]int{}, byName: map[string]*node{}}
}

// set gives key a value; an empty unquoted one hides an inherited value too.
func (n *node) set(key string, v Value) {
	if i, ok := n.index[key]; ok {
		n.keys[i].Value = v
		return
	}
	n.index[key] = len(n.keys)
	n.keys = append(n.keys, Key{key, v})
}

// sub returns the section of that name, made if it is new.
func (n *node) sub(name string, at Position) *node {
	if s, ok := n.byName[name]; ok {
		return s
	}
	s := newNode(name, at)
	n.byName[name] = s
	n.subs = append(n.subs, s)
	return s
}

// unset reports whether the value was written as "key =".
func (v Value) unset() bool { return v.Text == "" && !v.Quoted }

func (s *Section) all() []*node {
	if s == nil {
		return nil
	}
	return s.layers
}

// Value returns the value of a key, and whether it is set.
func (s *Section) Value(key string) (Value, bool) {
	for _, n := range s.all() {
		if i, ok := n.index[key]; ok {
			v := n.keys[i].Value
			return v, !v.unset()
		}
	}
	return Value{}, false
}

// Keys returns the keys that are set: the section's own in their order, then
// those that it inherits.
func (s *Section) Keys() []Key {
	var keys []Key
	seen := map[string]bool{}
	for _, n := range s.all() {
		for _, k := range n.keys {
			if seen[k.Name] {
				continue
			}
			seen[k.Name] = true
			if !k.Value.unset() {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// Sections returns the sections inside: its own in their order, then those that
// it inherits.
func (s *Section) Sections() []*Section {
	var subs []*Section
	seen := map[string]bool{}
	for _, n := range s.all() {
		for _, sub := range n.subs {
			if !seen[sub.name] {
				seen[sub.name] = true
				subs = append(subs, s.Section(sub.name))
			}
		}
	}
	return subs
}

// Section returns the section of that name inside, or nil.
func (s *Section) Section(name string) *Section {
	layers := descend(s.all(), name)
	if len(layers) == 0 {
		return nil
	}
	return &Section{Position: layers[0].Position, Name: name, layers: layers}
}
