package suite

// Transforms returns the algorithms of a type that can be configured.
func Transforms(t TransformType) []Transform {
	var out []Transform
	for _, a := range algs {
		if a.t.Type == t {
			out = append(out, a.t)
		}
	}
	return out
}
