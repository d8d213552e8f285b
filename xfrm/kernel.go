package xfrm

import (
	"context"
)

// Kernel is the kernel's IPsec stack in one network namespace. Methods are safe
// for concurrent use. Errors name the operation and the object, wrap the
// kernel's errno (errors.Is with syscall.EEXIST, ESRCH, ENODEV, …) and carry the
// kernel's own explanation where it gives one.
type Kernel interface {
	// AddSA installs an SA; EEXIST if its ID is taken.
	AddSA(SA) error
	// UpdateSA changes limits, UDP ports and flags of an installed SA; ESRCH if
	// there is none. It cannot change keys, addresses or the mode.
	UpdateSA(SA) error
	// DelSA removes an SA; ESRCH if there is none.
	DelSA(SAID) error
	GetSA(SAID) (SAInfo, error)
	// SAs dumps every SA of the namespace, ours or not, keys included.
	SAs() ([]SAInfo, error)

	// AddPolicy installs a policy; EEXIST if its ID is taken.
	AddPolicy(Policy) error
	// UpdatePolicy installs a policy or replaces the one of the same ID in one step.
	UpdatePolicy(Policy) error
	// DelPolicy removes a policy; ENOENT if there is none.
	DelPolicy(PolicyID) error
	// Policies dumps every policy of the namespace except per-socket ones.
	Policies() ([]PolicyInfo, error)

	// AddInterface creates an interface, sets MTU, alias and addresses, and leaves
	// it down whatever Up says. If a step fails it removes the link again.
	AddInterface(Interface) error
	// UpdateInterface makes MTU and addresses what they should be. It removes
	// addresses only from interfaces whose Alias is set, and ignores Up.
	UpdateInterface(Interface) error
	// SetInterfaceUp raises or lowers an interface.
	SetInterfaceUp(name string, up bool) error
	// DelInterface removes an interface; ENODEV if there is none.
	DelInterface(name string) error
	// Interfaces dumps every XFRM interface of the namespace.
	Interfaces() ([]InterfaceInfo, error)

	// SetDefaults says what happens to packets without a policy.
	SetDefaults(Defaults) error

	// Features returns what the running kernel can do; probed once.
	Features() Features

	// Events delivers kernel events until ctx ends, then closes the channel. The
	// reader must keep up: what it misses arrives as one OverrunEvent.
	Events(ctx context.Context) (<-chan Event, error)
}
