package daemon

import "github.com/ipsecd/ipsecd/ike"

// What waits for the engine at most. When it is behind, the sockets wait, and the
// kernel drops what does not fit into their buffers.
const (
	packetQueue   = 512     // messages read from the sockets of peers
	strangerQueue = 64      // from those of strangers
	receiveBuffer = 4 << 20 // octets, of each socket of peers: some thousand messages
)

// intake takes messages from the sockets to the engine, which takes peers' first.
type intake struct {
	packets   chan ike.Packet
	strangers chan ike.Packet
}

func newIntake() *intake {
	return &intake{packets: make(chan ike.Packet, packetQueue), strangers: make(chan ike.Packet, strangerQueue)}
}
