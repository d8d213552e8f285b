package settings

// Tree is a section that is made by a program, for what another grammar says.
type Tree struct{ node *node }

// NewTree makes an empty section.
func NewTree(name string, at Position) *Tree {
	n := newNode(name, at)
	n.layers = []*node{n}
	return &Tree{n}
}

// Set gives a key a value.
func (t *Tree) Set(key string, v Value) { t.node.set(key, v) }

// Sub returns the section of that name inside, made if it is new.
func (t *Tree) Sub(name string, at Position) *Tree {
	n := t.node.sub(name, at)
	n.layers = []*node{n}
	return &Tree{n}
}

// Section returns the tree as a section.
func (t *Tree) Section() *Section {
	return &Section{Position: t.node.Position, Name: t.node.name, layers: t.node.layers}
}

// Join returns a section with the keys and sections of both; what is in both
// is the first one's. Either may be nil.
func Join(first, second *Section) *Section {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	joined := *first
	joined.layers = append(first.layers[:len(first.layers):len(first.layers)], second.layers...)
	return &joined
}
