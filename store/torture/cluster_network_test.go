//go:build linux

package torture

import (
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// network is a loopback interface of its own, for one node: what the node has to
// do with others goes through a test, which can hold it back. It needs root.
type network struct{ work chan func() }

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{make(chan func())}
	made := make(chan error)
	go func() {
		// The thread stays in the namespace, and ends with the goroutine.
		runtime.LockOSThread()
		err := syscall.Unshare(syscall.CLONE_NEWNET)
		if err == nil {
			err = loopbackUp()
		}
		made <- err
		for f := range n.work {
			f()
		}
	}()
	if err := <-made; err != nil {
		close(n.work)
		t.Fatalf("a network of its own for a node: %v; run it as root", err)
	}
	t.Cleanup(func() { close(n.work) })
	return n
}

// do calls f on a thread in the network: its sockets and processes are there.
func (n *network) do(f func()) {
	done := make(chan struct{})
	n.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

// gate lets nothing pass while it is locked.
type gate = sync.RWMutex

// forward passes on connections to a loopback port from one network to the same
// port in another, while the gates are open. from may be nil: the machine's.
func forward(t *testing.T, from, to *network, port int, gates ...*gate) {
	t.Helper()
	var listen net.Listener
	var err error
	open := func() { listen, err = net.Listen("tcp4", address(port)) }
	if from == nil {
		open()
	} else {
		from.do(open)
	}
	must(t, err)
	t.Cleanup(func() { listen.Close() })
	pass := func() {
		for _, g := range gates {
			g.RLock()
			//lint:ignore SA2001 it waits until the gate is open
			g.RUnlock()
		}
	}
	copyTo := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		io.Copy(writer(func(b []byte) (int, error) {
			pass()
			return to.Write(b)
		}), from)
	}
	go func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			go func() {
				pass()
				var server net.Conn
				var err error
				to.do(func() { server, err = net.Dial("tcp4", address(port)) })
				if err != nil {
					client.Close()
					return
				}
				go copyTo(server, client)
				copyTo(client, server)
			}()
		}
	}()
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
