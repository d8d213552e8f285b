package routerproto

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Message is one frame. Exactly one of the pointers is set.
type Message struct {
	Config *Config
	Status *Status
	Log    *Log
}

// frame is the JSON of a message. Secrets maps a neighbour's name to its
// password: a Config marshals without its secrets, wherever else it may go.
type frame struct {
	Version int               `json:"version"`
	Config  *Config           `json:"config,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"`
	Status  *Status           `json:"status,omitempty"`
	Log     *Log              `json:"log,omitempty"`
}

var errNotOne = errors.New("routerproto: a message carries exactly one of config, status and log")

// Append appends the frame of m to b: a length of four bytes, most significant
// first, and JSON.
func Append(b []byte, m Message) ([]byte, error) {
	f := frame{Version: Version, Config: m.Config, Status: m.Status, Log: m.Log}
	if !f.one() {
		return b, errNotOne
	}
	if m.Config != nil {
		f.Secrets = secretsOf(m.Config)
	}
	body, err := json.Marshal(f)
	if err != nil {
		return b, fmt.Errorf("routerproto: encode: %w", err)
	}
	if len(body) > MaxFrame {
		return b, fmt.Errorf("routerproto: message of %d bytes, the limit is %d", len(body), MaxFrame)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...), nil
}

// Read reads one frame. It returns io.EOF when r ends between frames.
func Read(r io.Reader) (Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return Message{}, io.EOF
		}
		return Message{}, fmt.Errorf("routerproto: read length: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return Message{}, fmt.Errorf("routerproto: frame of %d bytes announced, the limit is %d", n, MaxFrame)
	}
	// The buffer grows with what arrives, not with what was announced.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return Message{}, fmt.Errorf("routerproto: read frame: %w", err)
	}
	if len(body) != int(n) {
		return Message{}, fmt.Errorf("routerproto: frame ends after %d of %d bytes: %w", len(body), n, io.ErrUnexpectedEOF)
	}
	return parse(body)
}

func parse(body []byte) (Message, error) {
	var f frame
	if err := json.Unmarshal(body, &f); err != nil {
		return Message{}, fmt.Errorf("routerproto: decode: %w", err)
	}
	if f.Version != Version {
		return Message{}, fmt.Errorf("routerproto: version %d, this is version %d: restart ipsecd", f.Version, Version)
	}
	if !f.one() {
		return Message{}, errNotOne
	}
	if f.Config != nil {
		for i := range f.Config.BGP.Neighbors {
			n := &f.Config.BGP.Neighbors[i]
			n.Password = Secret(f.Secrets[n.Name])
		}
	}
	return Message{Config: f.Config, Status: f.Status, Log: f.Log}, nil
}

func (f *frame) one() bool {
	n := 0
	for _, set := range []bool{f.Config != nil, f.Status != nil, f.Log != nil} {
		if set {
			n++
		}
	}
	return n == 1
}

func secretsOf(c *Config) map[string]string {
	var m map[string]string
	for _, n := range c.BGP.Neighbors {
		if n.Password == "" {
			continue
		}
		if m == nil {
			m = make(map[string]string)
		}
		m[n.Name] = string(n.Password)
	}
	return m
}
