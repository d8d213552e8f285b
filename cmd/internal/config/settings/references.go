package settings

import "strings"

// reference is a dotted path from the root, as it was written.
type reference struct {
	Position
	path string
}

// descend returns the layers of the section called name in a section that has
// the given layers. A node appears once: where it appeared again it would be
// hidden by its first appearance.
func descend(layers []*node, name string) []*node {
	var out []*node
	seen := map[*node]bool{}
	for _, n := range layers {
		sub, ok := n.byName[name]
		if !ok {
			continue
		}
		for _, l := range sub.layers {
			if !seen[l] {
				seen[l] = true
				out = append(out, l)
			}
		}
	}
	return out
}

// resolver turns references into layers.
type resolver struct {
	root       *node
	state      map[*node]resolveState
	depth      int
	referenced map[string]bool // names at the root
	warnings   []*Error
}

type resolveState uint8

const (
	unresolved resolveState = iota
	resolving
	resolved
)

// resolve fills in the layers of every node. A section that would contain
// itself is an error, a reference to nothing a warning.
func resolve(root *node) (*resolver, error) {
	r := &resolver{root: root, state: map[*node]resolveState{}, referenced: map[string]bool{}}
	if err := r.tree(root); err != nil {
		return nil, err
	}
	return r, acyclic(root)
}

func (r *resolver) tree(n *node) error {
	if err := r.node(n); err != nil {
		return err
	}
	for _, sub := range n.subs {
		if err := r.tree(sub); err != nil {
			return err
		}
	}
	return nil
}

// node fills in the layers of n.
func (r *resolver) node(n *node) error {
	if r.state[n] == resolved {
		return nil
	}
	if r.depth++; r.depth > MaxInherited {
		return tooMany(n)
	}
	defer func() { r.depth-- }()
	r.state[n] = resolving
	seen := map[*node]bool{n: true}
	layers := []*node{n}
	for _, ref := range n.refs {
		inherited, err := r.lookup(ref)
		if err != nil {
			return err
		}
		if len(inherited) == 0 {
			r.warnings = append(r.warnings, ref.Errorf("section %s refers to %s, but there is no such section", n.name, ref.path))
		}
		for _, l := range inherited {
			if !seen[l] {
				seen[l] = true
				layers = append(layers, l)
			}
		}
	}
	if len(layers) > MaxInherited {
		return tooMany(n)
	}
	n.layers = layers
	r.state[n] = resolved
	return nil
}

func tooMany(n *node) error {
	return n.Errorf("section %s inherits from more than %d sections", n.name, MaxInherited)
}

// lookup returns the layers of the section that ref names.
func (r *resolver) lookup(ref reference) ([]*node, error) {
	top, _, _ := strings.Cut(ref.path, ".")
	r.referenced[top] = true
	layers := []*node{r.root}
	for name := range strings.SplitSeq(ref.path, ".") {
		for _, n := range layers {
			sub, ok := n.byName[name]
			if !ok {
				continue
			}
			if r.state[sub] == resolving {
				return nil, ref.Errorf("the reference to %s leads back to the section that makes it", ref.path)
			}
			if err := r.node(sub); err != nil {
				return nil, err
			}
		}
		layers = descend(layers, name)
	}
	return layers, nil
}

// acyclic refuses sections that contain themselves through what they inherit:
// "a { b : a { } }" would have no end.
func acyclic(root *node) error {
	state := map[*node]resolveState{}
	var visit func(n *node, depth int) error
	visit = func(n *node, depth int) error {
		if depth > MaxDepth*MaxInherited {
			return n.Errorf("sections are nested too deep by what section %s inherits", n.name)
		}
		state[n] = resolving
		for _, next := range append(n.layers[1:len(n.layers):len(n.layers)], n.subs...) {
			switch state[next] {
			case resolving:
				return n.Errorf("section %s contains itself: it inherits from section %s (%s)", n.name, next.name, next.Position)
			case unresolved:
				if err := visit(next, depth+1); err != nil {
					return err
				}
			}
		}
		state[n] = resolved
		return nil
	}
	return visit(root, 0)
}
