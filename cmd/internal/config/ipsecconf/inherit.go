package ipsecconf

import "github.com/ipsecd/ipsecd/cmd/internal/config/settings"

// defaultName is the section that all of its kind take over.
const defaultName = "%default"

// raw is a section as it was written, in one or in several places.
type raw struct {
	Position
	kind, name string
	keys       []settings.Key
	index      map[string]int   // of keys
	also       []settings.Value // names of sections, in their order
}

func (r *raw) set(key string, v settings.Value) {
	if key == "also" {
		r.also = append(r.also, v)
		return
	}
	if i, ok := r.index[key]; ok {
		r.keys[i].Value = v
		return
	}
	r.index[key] = len(r.keys)
	r.keys = append(r.keys, settings.Key{Name: key, Value: v})
}

// resolve makes a section out of a raw one and those that it takes over:
// itself, then what it names with also, then %default.
func (p *parser) resolve(r *raw) (*Section, error) {
	var layers []*raw
	if err := p.collect(r, nil, &layers); err != nil {
		return nil, err
	}
	if d := p.byName[[2]string{r.kind, defaultName}]; d != nil {
		if err := p.collect(d, nil, &layers); err != nil {
			return nil, err
		}
	}
	s := &Section{Position: r.Position, Kind: r.kind, Name: r.name}
	seen := map[string]bool{}
	for _, l := range layers {
		for _, k := range l.keys {
			if seen[k.Name] {
				continue
			}
			seen[k.Name] = true
			if k.Value.Text != "" || k.Value.Quoted {
				s.keys = append(s.keys, k)
			}
		}
	}
	return s, nil
}

// collect appends a section and, depth first, those that it names with also.
// A section counts where it is named first.
func (p *parser) collect(r *raw, path []*raw, layers *[]*raw) error {
	for _, l := range *layers {
		if l == r {
			return nil
		}
	}
	if len(*layers) > MaxAlso {
		return r.Errorf("%s %s takes over more than %d sections", r.kind, printable(r.name), MaxAlso)
	}
	*layers = append(*layers, r)
	path = append(path, r)
	for _, v := range r.also {
		next := p.byName[[2]string{r.kind, v.Text}]
		if next == nil {
			p.warnOnce(v, r)
			continue
		}
		for _, above := range path {
			if above == next {
				return v.Errorf("also=%s leads back to %s %s", printable(v.Text), r.kind, printable(next.name))
			}
		}
		if err := p.collect(next, path, layers); err != nil {
			return err
		}
	}
	return nil
}

// warnOnce points out a section that is not there; %default and templates are
// resolved more than once.
func (p *parser) warnOnce(v settings.Value, r *raw) {
	w := v.Errorf("also=%s: there is no %s %s", printable(v.Text), r.kind, printable(v.Text))
	for _, old := range p.Warnings {
		if *old == *w {
			return
		}
	}
	p.Warnings = append(p.Warnings, w)
}
