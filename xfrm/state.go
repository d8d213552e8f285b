package xfrm

// State is a set of kernel objects. Order does not matter.
type State struct {
	SAs        []SA
	Policies   []Policy
	Interfaces []Interface
}

// Dump reads the kernel's present state, foreign objects included.
func Dump(k Kernel) (State, error) {
	var s State
	sas, err := k.SAs()
	if err != nil {
		return State{}, err
	}
	for _, sa := range sas {
		s.SAs = append(s.SAs, sa.SA)
	}
	pols, err := k.Policies()
	if err != nil {
		return State{}, err
	}
	for _, p := range pols {
		s.Policies = append(s.Policies, p.Policy)
	}
	ifs, err := k.Interfaces()
	if err != nil {
		return State{}, err
	}
	for _, i := range ifs {
		s.Interfaces = append(s.Interfaces, i.Interface)
	}
	return s, nil
}
