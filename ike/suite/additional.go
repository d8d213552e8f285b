package suite

import "slices"

// exchanges are the types of the key exchanges, the first and the additional ones, in the order in which they take place.
var exchanges = []TransformType{KE, AddKE1, AddKE1 + 1, AddKE1 + 2, AddKE1 + 3, AddKE1 + 4, AddKE1 + 5, AddKE7}

// chooseKEs matches the key exchanges of two proposals, the first and the additional ones. The result has one transform for
// each type, NONE included; it lacks the types that have nothing in common, and is empty if there is no choice in which no
// method comes twice (RFC 9370, 2.2.1).
func chooseKEs(our, their Proposal, o Options) map[TransformType]Transform {
	var types []TransformType
	fit := map[TransformType][]Transform{}
	for _, typ := range exchanges {
		if f := common(our.withImplied(typ), their.withImplied(typ), o); len(f) > 0 {
			types, fit[typ] = append(types, typ), f
		}
	}
	chosen := map[TransformType]Transform{}
	if !assign(types, fit, chosen) {
		return nil
	}
	return chosen
}

// assign gives each type the best of its transforms whose method is not taken, going back on earlier choices if need be.
func assign(types []TransformType, fit map[TransformType][]Transform, chosen map[TransformType]Transform) bool {
	if len(types) == 0 {
		return true
	}
	for _, t := range fit[types[0]] {
		if !t.IsNone() && taken(chosen, t.ID) {
			continue
		}
		chosen[t.Type] = t
		if assign(types[1:], fit, chosen) {
			return true
		}
		delete(chosen, t.Type)
	}
	return false
}

func taken(chosen map[TransformType]Transform, method uint16) bool {
	for _, t := range chosen {
		if t.ID == method {
			return true
		}
	}
	return false
}

// repeated returns a key exchange that is in p twice, under two types.
func (p Proposal) repeated() (Transform, bool) {
	var seen []uint16
	for _, t := range p.Transforms {
		if !t.Type.isKE() || t.IsNone() {
			continue
		}
		if slices.Contains(seen, t.ID) {
			return t, true
		}
		seen = append(seen, t.ID)
	}
	return Transform{}, false
}
