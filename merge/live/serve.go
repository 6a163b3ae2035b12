package live

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve serves h at l until ctx ends. Then every page is sent the last state, and everything that
// runs comes to its end, for at most five seconds.
func Serve(ctx context.Context, l net.Listener, h *Handler, complaints *log.Logger) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second, // a stream gives itself more
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          complaints,
	}
	server.RegisterOnShutdown(h.Close)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := server.Shutdown(drain)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
